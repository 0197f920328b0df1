/*
 * overflows - recurses until its stack is full and handles that on another stack, where it
 * computes for a while and begins again.
 *
 * usage: overflows [TURNS [action-first]]
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char other_stack[65536];
static sigjmp_buf again;
static volatile uint64_t sink;

static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void on_fault(int number)
{
	(void)number;
	sink += compute(2000000);
	siglongjmp(again, 1);
}

static int recurse(int depth)
{
	volatile char frame[64];

	if (depth < 0)
		return 0;

	frame[0] = (char)depth;
	sink += compute(20);
	return recurse(depth + 1) + frame[0];
}

int main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : 20;
	const stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
	const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	volatile int handled = 0;

	if (argc > 2)
		sigaction(SIGSEGV, &action, NULL);
	sigaltstack(&stack, NULL);
	if (argc <= 2)
		sigaction(SIGSEGV, &action, NULL);
	while (handled < turns) {
		if (sigsetjmp(again, 1) == 0)
			recurse(0);
		handled = handled + 1;
	}
	printf("%d turns\n", handled);
	return 7;
}
