/*
 * clones - a function of which gcc makes a copy with one argument's value in it (-O3), called from
 * shallow and deep; prints how often it was executed.
 */
#include <stdio.h>

#define DEEP 40000

static long calls_of_adds, calls_of_deep;
static volatile long sink;

static __attribute__((noinline)) long adds(int count, int mode, const int *numbers)
{
	long sum = 0;

	calls_of_adds++;
	for (int i = 0; i < count; i++) {
		if (mode == 3)
			sum += i * numbers[0];
		else
			sum -= i;
		sink += sum;
	}
	return sum;
}

/* Further in than there are entries. */
static __attribute__((noinline)) long deep(int levels)
{
	const int numbers[] = { 1, 2 };

	calls_of_deep++;
	const long sum = adds(2, 3, numbers);

	return sum + (levels > 1 ? deep(levels - 1) : 0) + (long)sink;
}

int main(void)
{
	sink = deep(DEEP);
	printf("calls adds %ld\ncalls deep %ld\n", calls_of_adds, calls_of_deep);
	return 0;
}
