/*
 * tiny - the same work in functions of some nanoseconds, and inlined, in turns.
 *
 * Prints the CPU time that all turns took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TURNS 1000
#ifndef STEPS
#define STEPS 12 /* each of which waits for the one before */
#endif
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define UNTRACED __attribute__((no_instrument_function))

UNTRACED static inline __attribute__((always_inline)) unsigned long work(unsigned long value)
{
	for (int i = 0; i < STEPS; i++) {
		value = value * 5 + 1;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

ALONE static unsigned long works(unsigned long value)
{
	return work(value);
}

ALONE static unsigned long calls(unsigned long value)
{
	for (int i = 0; i < TURNS; i++)
		value = works(value);
	return value;
}

ALONE static unsigned long inlines(unsigned long value)
{
	for (int i = 0; i < TURNS; i++) {
		value = work(value);
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

UNTRACED static long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 1;
	const long start_ns = cpu_ns();
	unsigned long value = 1;

	for (int i = 0; i < rounds; i++)
		value = inlines(calls(value));
	printf("%ld\n", cpu_ns() - start_ns + (value == 1));
	return 0;
}
