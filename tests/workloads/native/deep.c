/*
 * Calls so deep in each other that the innermost have no entries: deep.c.  Prints how often each
 * function was called; what is called between the calls, and behind them, has the right callers.
 */
#include <stdio.h>

#define DEEP 60000

static unsigned leaves;

static __attribute__((noinline)) void leaf(void)
{
	leaves++;
	__asm__ volatile("");
}

static __attribute__((noinline)) int deep(int levels)
{
	int sum = 0;

	leaf();
	if (levels > 1)
		sum = deep(levels - 1) + 1;
	leaf();
	return sum;
}

static __attribute__((noinline)) void behind(void)
{
	leaf();
}

int main(void)
{
	const int bad = deep(DEEP) != DEEP - 1;

	behind();
	printf("calls deep %d\ncalls leaf %u\ncalls behind 1\n", DEEP, leaves);
	return bad;
}
