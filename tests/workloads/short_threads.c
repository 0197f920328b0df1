/*
 * short_threads - threads that end sooner than a sampler looks, and a creator that works as much.
 *
 *   short_threads MS [MICROSECONDS [AT_ONCE]]
 *
 * Each thread computes for about MICROSECONDS of CPU time (100), AT_ONCE of them at a time (1);
 * then the main thread as much as they together, until MS of CPU time are burned (1,000).
 */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_AT_ONCE 64

struct turn {
	pthread_t thread;
	uint64_t budget_ns, cpu_ns;
	volatile uint64_t sink;
};

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static uint64_t burn(struct turn *turn)
{
	const uint64_t begin = truth_thread_cpu_ns();
	uint64_t now = begin;

	while (now - begin < turn->budget_ns) {
		turn->sink = compute(2000);
		now = truth_thread_cpu_ns();
	}
	return now - begin;
}

/* Its time is all of its thread's: from its birth in the kernel to its return. */
KEEP static void *work_of_thread(void *argument)
{
	struct turn *turn = argument;

	burn(turn);
	turn->cpu_ns = truth_thread_cpu_ns();
	return NULL;
}

KEEP static uint64_t work_of_creator(struct turn *turn)
{
	return burn(turn);
}

int main(int argc, char **argv)
{
	const uint64_t budget_ns = truth_budget_ns(argc, argv, 1000);
	const uint64_t length_ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 100000;
	const uint64_t at_once = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	struct turn turns[MOST_AT_ONCE], own = { .budget_ns = 0 };
	uint64_t threads = 0, of_threads_ns = 0, of_creator_ns = 0;

	if (at_once == 0 || at_once > MOST_AT_ONCE)
		return 2;
	for (uint64_t round = 0; truth_process_cpu_ns() < budget_ns; round++) {
		own.budget_ns = 0;
		for (uint64_t i = 0; i < at_once; i++) {
			/* Without rhythm, so that turns do not fall in step with a sampler. */
			turns[i].budget_ns = truth_vary(round * at_once + i, length_ns / 4,
							length_ns * 3 / 2);
			own.budget_ns += turns[i].budget_ns;
			if (pthread_create(&turns[i].thread, NULL, work_of_thread, &turns[i]) !=
			    0)
				abort();
		}
		for (uint64_t i = 0; i < at_once; i++) {
			pthread_join(turns[i].thread, NULL);
			of_threads_ns += turns[i].cpu_ns;
			threads++;
		}
		of_creator_ns += work_of_creator(&own);
	}
	truth_add(TRUTH_TOTAL, "work_of_thread", of_threads_ns);
	truth_add(TRUTH_TOTAL, "work_of_creator", of_creator_ns);
	truth_add(TRUTH_TOTAL, "main", truth_thread_cpu_ns());
	truth_add(TRUTH_COUNT, "threads", threads);
	truth_print();
	return 0;
}
