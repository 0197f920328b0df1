/*
 * many_rules - opens a library of 60,000 functions and burns 50 ms below each of eight chains of 40 of
 * them: many_rules FOLDER
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>

#define CHAINS   8
#define CHAIN_NS 50000000ULL

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	char path[4096], name[16];

	if (argc < 2)
		return 2;
	snprintf(path, sizeof path, "%s/libmany_rules_library.so", argv[1]);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return 3;
	for (int i = 0; i < CHAINS; i++) {
		snprintf(name, sizeof name, "chain_%d_0", i);
		uint64_t (*work)(uint64_t) =
			(uint64_t(*)(uint64_t))(uintptr_t)dlsym(library, name);

		if (work == NULL)
			return 4;
		while (truth_thread_cpu_ns() < (uint64_t)(i + 1) * CHAIN_NS)
			sink = work(100000);
	}
	truth_print();
	return 0;
}
