/*
 * Loads a Python library when it has run for a while, and has it execute a program: arguments
 * are the library's path and the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (address == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return address;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);

	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void (*initialize)(void);
	int (*run)(const char *, void *);

	/* As dlsym(3) has it: ISO C knows no way from an object's pointer to a function's. */
	*(void **)&initialize = symbol(library, "Py_Initialize");
	*(void **)&run = symbol(library, "PyRun_SimpleStringFlags");
	initialize();
	return run(argv[2], NULL) == 0 ? 0 : 2;
}
