/*
 * swapping - gives its rights up, then puts a link to another file where a library was that it
 * has mapped and executes; and removes that at its end.
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ORDINARY_USER 65534

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: swapping LIBRARY FUNCTION FILE [MS]\n");
		return 2;
	}
	if (geteuid() == 0 && (setgid(ORDINARY_USER) < 0 || setuid(ORDINARY_USER) < 0))
		return 3;
	void *library = dlopen(argv[1], RTLD_NOW);

	if (library == NULL || unlink(argv[1]) < 0 || symlink(argv[3], argv[1]) < 0)
		return 4;
	uint64_t (*work)(uint64_t) = (uint64_t(*)(uint64_t))(uintptr_t)dlsym(library, argv[2]);
	uint64_t budget = truth_budget_ns(argc - 3, argv + 3, 500);

	while (truth_thread_cpu_ns() < budget)
		sink = work(200000);
	unlink(argv[1]);
	truth_print();
	return 0;
}
