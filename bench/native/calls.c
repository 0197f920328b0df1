/*
 * What calls of an empty function cost, by the program's own clock: calls [CALLS [ROUNDS]]
 *
 * Prints one JSON object: nanoseconds for a call, the loop taken off; the least of some rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) void empty(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void loop(long calls)
{
	for (long i = 0; i < calls; i++)
		__asm__ volatile("");
}

__attribute__((noinline)) void native_calls(long calls)
{
	for (long i = 0; i < calls; i++)
		empty();
}

static double least_of(void (*program)(long), long calls, double least)
{
	const double begin = now_ns();

	program(calls);
	const double spent = (now_ns() - begin) / (double)calls;

	return spent < least ? spent : least;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 30000;
	const long rounds = argc > 2 ? atol(argv[2]) : 60;
	double bare = 1e9, called = 1e9;

	for (long i = 0; i < rounds; i++) {
		bare = least_of(loop, calls, bare);
		called = least_of(native_calls, calls, called);
	}
	printf("{\"native_ns\": %f, \"loop_ns\": %f}\n", called - bare, bare);
	return 0;
}
