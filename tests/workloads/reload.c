/*
 * reload - a library is opened, used and closed, and another is mapped where it was:
 * what an address means depends on when it was seen.
 *
 * "same_place" counts the times the second library really came to lie at the
 * first one's addresses.
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

struct visit {
	uint64_t spent_ns;
	uintptr_t address;
};

static struct visit use_library(const char *folder, const char *file, const char *function,
				uint64_t budget_ns)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", folder, file);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		fprintf(stderr, "reload: %s\n", dlerror());
		exit(2);
	}
	uint64_t (*work)(uint64_t) = (uint64_t(*)(uint64_t))(uintptr_t)dlsym(library, function);
	uint64_t begin = truth_thread_cpu_ns(), now = begin;
	for (uint64_t turn = 0; now - begin < budget_ns; turn++) {
		sink = work(truth_vary(turn, 200000, 300000));
		now = truth_thread_cpu_ns();
	}
	struct visit visit = { now - begin, (uintptr_t)work };
	dlclose(library);
	return visit;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: reload FOLDER-OF-LIBRARIES [MS]\n");
		return 2;
	}
	uint64_t budget = truth_budget_ns(argc - 1, argv + 1, 800);

	for (int round = 0; round < 5; round++) {
		struct visit first =
			use_library(argv[1], "libfirst.so", "first_work", budget / 20);
		struct visit second =
			use_library(argv[1], "libsecond.so", "second_work", budget * 3 / 20);

		truth_add(TRUTH_SELF, "first_work", first.spent_ns);
		truth_add(TRUTH_SELF, "second_work", second.spent_ns);
		truth_add(TRUTH_COUNT, "same_place", first.address == second.address);
	}
	truth_print();
	return 0;
}
