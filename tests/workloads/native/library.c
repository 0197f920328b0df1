/* library - NAME is the function that a loaded library calls. */
static volatile int sink;

__attribute__((noinline)) static int NAME(int i)
{
	sink += i;
	return i + 1;
}

int library_entry(int i)
{
	return NAME(i) + 1;
}

__attribute__((constructor)) static void library_begins(void)
{
	sink = 0;
}
