/*
 * inlined - functions that are inlined in others, in themselves, and called; prints how often each
 * was executed.
 */
#include <stdio.h>

#define UNTRACED    __attribute__((no_instrument_function))
#define COUNT(name) calls_of_##name++

static long calls_of_inner, calls_of_within, calls_of_itself, calls_of_outer;
static volatile long sink;

/* Its own code, for calls by its address, lies before the function it is inlined in. */
static inline __attribute__((always_inline)) void inner(int i)
{
	COUNT(inner);
	sink += i;
}

static void within(int i)
{
	COUNT(within);
	inner(i);
	sink -= i;
	inner(i + 1);
}

static void (*volatile by_address[])(int) = { inner, within };

/* gcc inlines some of its calls of itself. */
static long itself(int n)
{
	COUNT(itself);
	return n < 2 ? n : itself(n - 1) + itself(n - 2);
}

static __attribute__((noinline)) void outer(int i)
{
	COUNT(outer);
	within(i);
	for (int k = 0; k < 2; k++)
		by_address[k](i);
	inner(i);
}

UNTRACED int main(void)
{
	for (int i = 0; i < 100; i++)
		outer(i);
	sink += itself(15);
#define PRINT(name) printf("calls " #name " %ld\n", calls_of_##name)
	PRINT(inner);
	PRINT(within);
	PRINT(itself);
	PRINT(outer);
	return 0;
}
