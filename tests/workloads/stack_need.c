/*
 * stack_need - how far below a thread's stack pointer signals write.
 *
 * On a thread with the smallest stack there is, paints what lies below, computes in many small
 * functions, and looks how deep the paint is gone: "need".  "frame" is the same for a signal
 * whose handler does nothing.  "alternate" is what is needed while a handler computes on the
 * thread's alternate stack, where traps cannot be elsewhere.
 */
#include "truth.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAINT      0xa5a5a5a5a5a5a5a5u
#define PAINTED    (8 * 1024)
#define OWN_FRAMES 512 /* of the functions below, and what is between them and the paint */

static volatile uint64_t sink;

/* Functions of different frames, each with addresses of its own. */
#define WORK(n)                                             \
	KEEP static uint64_t work_##n(uint64_t rounds)      \
	{                                                   \
		volatile uint64_t room[(n) % 7 + 1];        \
		uint64_t x = rounds;                        \
                                                            \
		for (uint64_t i = 0; i < rounds; i++) {     \
			x = x * 6364136223846793005u + (n); \
			room[i % ((n) % 7 + 1)] = x;        \
			x ^= x >> ((n) % 13 + 3);           \
		}                                           \
		return x + room[0];                         \
	}
#define TEN(X, n) \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define FIFTY(X) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5)
FIFTY(WORK)

#define NAME(n) work_##n,
static uint64_t (*const works[])(uint64_t) = { FIFTY(NAME) };

static void do_nothing(int signal)
{
	(void)signal;
}

/* Nothing here calls a function that could need more stack than OWN_FRAMES. */
KEEP static void paint(uint64_t *low)
{
	for (size_t i = 0; i < PAINTED / sizeof *low; i++)
		((volatile uint64_t *)low)[i] = PAINT;
}

KEEP static uint64_t bytes_gone(const uint64_t *low)
{
	size_t i = 0;

	while (i < PAINTED / sizeof *low && ((const volatile uint64_t *)low)[i] == PAINT)
		i++;
	return PAINTED - i * sizeof *low;
}

static uint64_t rounds;
static struct {
	uint64_t frame, own, alternate;
} needs;

KEEP static uint64_t need_of(void (*run)(void))
{
	uint64_t here;
	uint64_t *low = (uint64_t *)(((uintptr_t)&here - OWN_FRAMES - PAINTED) & ~15UL);

	paint(low);
	run();
	return bytes_gone(low);
}

static void take_signal(void)
{
	raise(SIGUSR1);
}

static void compute(void)
{
	for (uint64_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
			sink = works[i](20000);
	}
}

static void on_alternate(int signal)
{
	(void)signal;
	needs.alternate = need_of(compute);
}

static void *measure(void *argument)
{
	static char memory[65536];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

	needs.frame = need_of(take_signal);
	needs.own = need_of(compute);
	sigaltstack(&stack, NULL);
	raise(SIGUSR2);
	return argument;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	const struct sigaction beside = { .sa_handler = on_alternate, .sa_flags = SA_ONSTACK };
	pthread_attr_t attributes;
	pthread_t thread;

	rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &beside, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	if (pthread_create(&thread, &attributes, measure, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	truth_add(TRUTH_COUNT, "frame", needs.frame);
	truth_add(TRUTH_COUNT, "need", needs.own);
	truth_add(TRUTH_COUNT, "alternate", needs.alternate);
	truth_print();
	return 0;
}
