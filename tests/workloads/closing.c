/*
 * closing - opens and closes a library over and over, with work between: closing FOLDER TURNS
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	char path[4096];

	if (argc < 3) {
		fprintf(stderr, "usage: closing FOLDER-OF-LIBRARIES TURNS\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/libfirst.so", argv[1]);
	for (int turns = atoi(argv[2]); turns > 0; turns--) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

		if (library == NULL)
			return 3;
		uint64_t (*work)(uint64_t) =
			(uint64_t(*)(uint64_t))(uintptr_t)dlsym(library, "first_work");
		sink = work(100000);
		dlclose(library);
	}
	truth_print();
	return 0;
}
