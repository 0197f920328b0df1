/*
 * pushed - deep recursions whose arguments are in registers, or some on the stack, where a caller's
 * stack pointer is not what it was at its hook; and calls through a library.  Prints how often each
 * function was called, and the CPU time of each recursion.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LEVELS 8000
#define TURNS  4

#define COUNTED(name)                \
	static long calls_of_##name; \
	static __attribute__((noinline))

static volatile long sink;

COUNTED(in_registers) void in_registers(long levels, long a, long b, long c, long d, long e)
{
	calls_of_in_registers++;
	if (levels > 1)
		in_registers(levels - 1, a + 1, b, c, d, e);
	sink += a + b + c + d + e;
}

COUNTED(on_stack)
void on_stack(long levels, long a, long b, long c, long d, long e, long f, long g)
{
	calls_of_on_stack++;
	if (levels > 1)
		on_stack(levels - 1, a + 1, b, c, d, e, f, g);
	sink += a + b + c + d + e + f + g;
}

COUNTED(compares) int compares(const void *a, const void *b)
{
	calls_of_compares++;
	return *(const int *)a - *(const int *)b;
}

COUNTED(through) void through(long levels)
{
	int numbers[] = { 2, 1 };

	calls_of_through++;
	qsort(numbers, 2, sizeof *numbers, compares);
	if (levels > 1)
		through(levels - 1);
	sink += numbers[0];
}

static __attribute__((no_instrument_function)) int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#define TIME(name, call)                                                              \
	do {                                                                          \
		int64_t began = cpu_ns();                                             \
                                                                                      \
		for (int i = 0; i < TURNS; i++)                                       \
			call;                                                         \
		printf("calls " #name " %ld\ntook " #name " %lld\n", calls_of_##name, \
		       (long long)(cpu_ns() - began));                                \
	} while (0)

int main(void)
{
	TIME(in_registers, in_registers(LEVELS, 1, 2, 3, 4, 5));
	TIME(on_stack, on_stack(LEVELS, 1, 2, 3, 4, 5, 6, 7));
	TIME(through, through(LEVELS));
	printf("calls compares %ld\n", calls_of_compares);
	return 0;
}
