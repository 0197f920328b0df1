/* The same work each time, in turns: a loop without calls, calls of functions of half a microsecond, recursion. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile long sink;

APART long part(long number)
{
	long sum = number;

	for (int i = 0; i < 400; i++)
		sum += i ^ sink;
	return sum;
}

APART long loops(long units)
{
	long sum = 0;

	for (long i = 0; i < 1000 * units; i++)
		sum += i ^ sink;
	return sum;
}

APART long calls(long units)
{
	long sum = 0;

	for (long i = 0; i < units; i++)
		sum += part(i);
	return sum;
}

/* Down and back: each call does its part behind the one that it makes. */
APART long descent(long depth)
{
	return depth == 0 ? 0 : descent(depth - 1) + part(depth);
}

APART long recursion(long units)
{
	long sum = 0;

	for (long i = 0; i < units; i += 50)
		sum += descent(50);
	return sum;
}

int main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int turn = 0; turn < turns; turn++) {
		const long units = 1000 + turn * 37 % 500;

		sum += loops(units) + calls(units) + recursion(units);
	}
	printf("%ld\n", sum);
	return 0;
}
