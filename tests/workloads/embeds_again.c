/*
 * Loads a Python library when it has begun, and has it execute a program, as often as is asked
 * for, each time in an interpreter that is made anew: arguments are the library's path, whether
 * its names are to be "global" or "local", how often, and the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	if (argc != 5)
		return 1;
	const int scope = strcmp(argv[2], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL;
	void *library = dlopen(argv[1], RTLD_NOW | scope);

	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void (*begin)(int);
	int (*run)(const char *, void *);
	void (*end)(void);

	/* As dlsym(3) has it: ISO C knows no way from an object's pointer to a function's. */
	*(void **)&begin = symbol(library, "Py_InitializeEx");
	*(void **)&run = symbol(library, "PyRun_SimpleStringFlags");
	*(void **)&end = symbol(library, "Py_Finalize");
	for (int i = atoi(argv[3]); i > 0; i--) {
		begin(0);
		if (run(argv[4], NULL) != 0)
			return 2;
		end();
	}
	return 0;
}
