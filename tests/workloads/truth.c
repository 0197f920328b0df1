#include "truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FACTS_MAX 64

struct fact {
	enum truth_kind kind;
	const char *name;
	uint64_t amount;
};

/* A test program has one truth; it is printed by one thread. */
static struct fact facts[FACTS_MAX];
static unsigned fact_count;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t truth_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t truth_process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void truth_add(enum truth_kind kind, const char *name, uint64_t amount)
{
	for (unsigned i = 0; i < fact_count; i++) {
		if (facts[i].kind == kind && strcmp(facts[i].name, name) == 0) {
			facts[i].amount += amount;
			return;
		}
	}
	if (fact_count == FACTS_MAX)
		abort();
	facts[fact_count++] = (struct fact){ kind, name, amount };
}

static void print_kind(enum truth_kind kind, const char *title)
{
	const char *separator = "";

	printf(", \"%s\": {", title);
	for (unsigned i = 0; i < fact_count; i++) {
		if (facts[i].kind != kind)
			continue;
		printf("%s\"%s\": %" PRIu64, separator, facts[i].name, facts[i].amount);
		separator = ", ";
	}
	printf("}");
}

void truth_print(void)
{
	static const char *const titles[TRUTH_KINDS] = { "self",    "total",     "edges",
							 "threads", "processes", "counts" };

	printf("{\"cpu_ns\": %" PRIu64, truth_process_cpu_ns());
	for (int kind = 0; kind < TRUTH_KINDS; kind++)
		print_kind((enum truth_kind)kind, titles[kind]);
	printf("}\n");
	fflush(stdout);
}

uint64_t truth_budget_ns(int argc, char **argv, uint64_t default_ms)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : default_ms;

	return ms * 1000000u;
}

/* The finaliser of splitmix64: https://prng.di.unimi.it/splitmix64.c */
uint64_t truth_vary(uint64_t turn, uint64_t least, uint64_t span)
{
	uint64_t x = (turn + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return least + (x ^ (x >> 31)) % span;
}
