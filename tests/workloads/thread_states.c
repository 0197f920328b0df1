/*
 * thread_states - a program that embeds Python and makes a thread's states by hand.
 *
 * The argument is a libpython.  A thread has two states of one interpreter, as a host may that
 * has one for each of several: what PyGILState_GetThisThreadState() knows is the first, which is
 * deleted before the second executes code.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char program[] = "def spin(n):\n"
			      "    while n:\n"
			      "        n -= 1\n"
			      "spin(3000000)\n";

/* Of the library; not declared by a header, for there is one program for all versions. */
static struct {
	void (*begin)(int);
	void *(*save)(void);
	void *(*head)(void);
	void *(*make)(void *interpreter);
	void (*restore)(void *state);
	void (*clear)(void *state);
	void (*delete_current)(void);
	int (*run)(const char *program);
} python;

static int find(void *library, const char *name, void *out_function)
{
	void *const address = dlsym(library, name);

	*(void **)out_function = address;
	return address != NULL;
}

static void *execute(void *interpreter)
{
	void *const first = python.make(interpreter);
	void *const second = python.make(interpreter);

	python.restore(first);
	python.clear(first);
	python.delete_current();
	python.restore(second);
	python.run(program);
	python.clear(second);
	python.delete_current();
	return NULL;
}

int main(int argc, char **argv)
{
	void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	pthread_t thread;

	if (library == NULL || !find(library, "Py_InitializeEx", &python.begin) ||
	    !find(library, "PyEval_SaveThread", &python.save) ||
	    !find(library, "PyInterpreterState_Head", &python.head) ||
	    !find(library, "PyThreadState_New", &python.make) ||
	    !find(library, "PyEval_RestoreThread", &python.restore) ||
	    !find(library, "PyThreadState_Clear", &python.clear) ||
	    !find(library, "PyThreadState_DeleteCurrent", &python.delete_current) ||
	    !find(library, "PyRun_SimpleString", &python.run)) {
		printf("no such library\n");
		return 1;
	}
	python.begin(0);
	python.save();
	pthread_create(&thread, NULL, execute, python.head());
	pthread_join(thread, NULL);
	printf("ran\n");
	return 0;
}
