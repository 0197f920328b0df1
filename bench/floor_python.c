/*
 * floor_python - the least that a hook of CPython's can cost: it is called and reads the clock.
 *
 * For python/floor.py, by ctypes.  What it needs of the interpreter is declared here, since it
 * is the same in all versions and their headers are not everywhere.
 */
#include <stddef.h>
#include <x86intrin.h>

#define FLOOR           __attribute__((visibility("default")))
#define HAVE_VECTORCALL (1U << 11)
#define T_PYSSIZET      19
#define READONLY        1

struct object {
	ptrdiff_t references;
	void *type;
};

struct callback {
	unsigned char head[32]; /* of a free-threaded build, too */
	struct object *(*call)(void *, void *const *, size_t, void *);
};

struct member {
	const char *name;
	int type;
	ptrdiff_t offset;
	int flags;
	const char *doc;
};

struct slot {
	int number;
	void *value;
};

struct spec {
	const char *name;
	int size, item_size;
	unsigned int flags;
	struct slot *slots;
};

extern struct object _Py_NoneStruct;
void PyEval_SetProfile(int (*function)(void *, void *, int, void *), void *argument);
void *PyType_FromSpec(struct spec *spec) __attribute__((weak));
struct callback *PyType_GenericAlloc(void *type, ptrdiff_t items);
void Py_IncRef(struct object *object);

static unsigned long long last;

static int called(void *argument, void *frame, int event, void *what)
{
	(void)argument, (void)frame, (void)event, (void)what;
	last = __rdtsc();
	return 0;
}

/* Up to 3.11. */
FLOOR void floor_set_profile(void)
{
	PyEval_SetProfile(called, NULL);
}

static struct object *called_by_vector(void *callable, void *const *arguments, size_t count,
				       void *names)
{
	(void)callable, (void)arguments, (void)count, (void)names;
	last = __rdtsc();
	Py_IncRef(&_Py_NoneStruct);
	return &_Py_NoneStruct;
}

/* From 3.12 on: an object for sys.monitoring to call. */
FLOOR void *floor_callback(void)
{
	static struct member members[] = {
		{ "__vectorcalloffset__", T_PYSSIZET, offsetof(struct callback, call), READONLY,
		  NULL },
		{ NULL, 0, 0, 0, NULL },
	};
	extern void *PyVectorcall_Call(void) __attribute__((weak));
	struct slot slots[] = {
		{ 72, members },                   /* Py_tp_members */
		{ 50, (void *)PyVectorcall_Call }, /* Py_tp_call */
		{ 0, NULL },
	};
	struct spec spec = { "floor", sizeof(struct callback), 0, HAVE_VECTORCALL, slots };
	struct callback *callback = PyType_GenericAlloc(PyType_FromSpec(&spec), 0);

	callback->call = called_by_vector;
	return callback;
}
