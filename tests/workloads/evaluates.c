/*
 * Loads a Python library and has it execute a program by an eval_frame function of our own (PEP
 * 523), which is set before anything else is executed: arguments are the library's path and
 * the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *eval_frame_function(void *state, void *frame, int is_throw);

static eval_frame_function *evaluate_as_ever;

static void *evaluate(void *state, void *frame, int is_throw)
{
	return evaluate_as_ever(state, frame, is_throw);
}

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
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (library == NULL)
		return 1;
	void (*begin)(int);
	void *(*interpreter)(void);
	void (*set_function)(void *, eval_frame_function *);
	int (*run)(const char *, void *);

	/* As dlsym(3) has it: ISO C knows no way from an object's pointer to a function's. */
	*(void **)&begin = symbol(library, "Py_InitializeEx");
	*(void **)&interpreter = symbol(library, "PyInterpreterState_Get");
	*(void **)&set_function = symbol(library, "_PyInterpreterState_SetEvalFrameFunc");
	*(void **)&run = symbol(library, "PyRun_SimpleStringFlags");
	*(void **)&evaluate_as_ever = symbol(library, "_PyEval_EvalFrameDefault");
	*(int *)symbol(library, "Py_NoSiteFlag") = 1;
	begin(0);
	set_function(interpreter(), evaluate);
	return run(argv[2], NULL) == 0 ? 0 : 2;
}
