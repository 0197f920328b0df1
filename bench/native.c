/*
 * native - a CPU-bound program of three kinds of work: fib() by recursion, qsort() with
 * a callback, snprintf().  The same work each time: native [TIMES].
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 100000

static uint64_t items[ITEMS];
static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void sort(uint64_t state)
{
	for (int i = 0; i < ITEMS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		items[i] = state >> 20;
	}
	qsort(items, ITEMS, sizeof items[0], compare);
	sink = items[ITEMS / 2];
}

static void print(unsigned times)
{
	char line[128];

	for (unsigned i = 0; i < times; i++)
		sink += (uint64_t)snprintf(line, sizeof line, "%u of %u: %.3f %s", i, times,
					   i / 7.0, "words");
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 20;

	for (int turn = 0; turn < times; turn++) {
		sink = fib(32);
		for (int i = 0; i < 3; i++)
			sort((uint64_t)turn * 3 + (uint64_t)i);
		print(80000);
	}
	return 0;
}
