/* A library with the function that an interpreter counts its collections with. */
struct space {
	char before[1392];
	unsigned long count;
};

struct vm {
	char before[1304];
	struct space *space;
};

extern struct vm *fake_current_vm;
struct vm *fake_current_vm;

unsigned long rb_gc_count(void);
unsigned long rb_gc_count(void)
{
#ifdef OTHERWISE
	return fake_current_vm->space->count + 1;
#else
	return fake_current_vm->space->count;
#endif
}
