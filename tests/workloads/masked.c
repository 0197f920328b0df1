/*
 * A thread that blocks every signal computes, as the workers of many libraries do; it looks at
 * its mask as it goes, and exits with 1 if it is ever not as set.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "truth.h"

static volatile uint64_t sum;

KEEP static void masked_work(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sum += i;
}

static int is_all_blocked(void)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, SIGTRAP) == 1 && sigismember(&now, SIGTERM) == 1;
}

static void *run(void *argument)
{
	const uint64_t end_ns = *(const uint64_t *)argument;
	sigset_t all, before, again;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (sigismember(&before, SIGTRAP) != 0)
		exit(1);
	while (truth_thread_cpu_ns() < end_ns) {
		masked_work(3000000);
		if (!is_all_blocked())
			exit(1);
	}
	pthread_sigmask(SIG_SETMASK, &before, &again);
	if (sigismember(&again, SIGTRAP) != 1)
		exit(1);
	truth_add(TRUTH_TOTAL, "masked_work", truth_thread_cpu_ns());
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t budget_ns = truth_budget_ns(argc, argv, 300);
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &budget_ns) != 0)
		return 1;
	pthread_join(thread, NULL);
	truth_print();
	return 0;
}
