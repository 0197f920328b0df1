/*
 * many_rules - opens a library of 60,000 functions and burns 50 ms below each of eight chains of 40 of
 * them, or 400 ms below all of them, one below the other: many_rules FOLDER [joined]
 */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>

#define CHAINS   8
#define CHAIN_NS 50000000ULL

typedef uint64_t (*chain)(uint64_t);

static volatile uint64_t sink;
static chain chains[CHAINS];
static int depth;

static uint64_t burn(uint64_t rounds)
{
	uint64_t x = rounds;

	while (rounds--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* What a chain's last function calls: the next chain, and burn() below the last one. */
static uint64_t join(uint64_t rounds)
{
	const uint64_t result = ++depth < CHAINS ? chains[depth](rounds) : burn(rounds);

	depth--;
	return result + 1;
}

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
		chains[i] = (chain)(uintptr_t)dlsym(library, name);
		if (chains[i] == NULL)
			return 4;
	}
	if (argc > 2)
		*(chain *)dlsym(library, "many_rules_next") = join;
	for (int i = 0; i < CHAINS; i++) {
		while (truth_thread_cpu_ns() < (uint64_t)(i + 1) * CHAIN_NS)
			sink = chains[argc > 2 ? 0 : i](100000);
	}
	truth_print();
	return 0;
}
