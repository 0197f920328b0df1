/* callbacks - qsort calls compare() through libc; shuffling is the rest of the time. */
#include "truth.h"

#include <stdlib.h>

#define ITEMS 20000

static uint64_t items[ITEMS];
static uint64_t state = 42;

KEEP static void shuffle(void)
{
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < ITEMS; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			items[i] = state >> 20;
		}
	}
}

KEEP static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	/* Some work, so that the callback is seen. */
	for (int i = 0; i < 8; i++) {
		a = a * 3 + 1;
		b = b * 3 + 1;
	}
	return (a > b) - (a < b);
}

KEEP static int sort(void)
{
	qsort(items, ITEMS, sizeof items[0], compare);
	return items[0] > items[ITEMS - 1];
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	uint64_t before = truth_thread_cpu_ns();

	while (before < budget) {
		shuffle();
		uint64_t between = truth_thread_cpu_ns();
		if (sort() != 0)
			return 2;
		uint64_t after = truth_thread_cpu_ns();
		truth_add(TRUTH_SELF, "shuffle", between - before);
		truth_add(TRUTH_TOTAL, "sort", after - between);
		before = after;
	}
	truth_print();
	return 0;
}
