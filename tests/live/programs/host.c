/*
 * Loads a plugin as it is asked to, and runs it.
 *
 * usage: host dlopen|deepbind|dlmopen NAME [SIGNAL]
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *handle;
	int signal = argc > 3 ? atoi(argv[3]) : SIGTRAP;

	if (argc < 3)
		return 2;
	for (int i = 0; i < 3; i++) {
		if (strcmp(argv[1], "dlmopen") == 0)
			handle = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW);
		else if (strcmp(argv[1], "deepbind") == 0)
			handle = dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND);
		else
			handle = dlopen(argv[2], RTLD_NOW);
		if (handle == NULL) {
			puts(dlerror());
			return 1;
		}
		int (*run)(int) = (int (*)(int))dlsym(handle, "plugin_run");

		if (run == NULL || run(signal) != 0)
			return 1;
		dlclose(handle);
	}
	return 3;
}
