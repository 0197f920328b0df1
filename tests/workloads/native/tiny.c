/*
 * tiny - the same work in functions of some nanoseconds, and inlined, in turns.
 */
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 1;
	unsigned long value = 1;

	for (int i = 0; i < rounds; i++)
		value = inlines(calls(value));
	printf("%d rounds\n", rounds + (value == 1));
	return 0;
}
