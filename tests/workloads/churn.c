/* churn - 200 threads come and go, two at a time, each computing for a few milliseconds. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 200

struct short_life {
	pthread_t thread;
	uint64_t budget_ns, spent_ns, cpu_ns;
	volatile uint64_t sink;
};

KEEP static uint64_t live_shortly(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *run(void *argument)
{
	struct short_life *life = argument;
	uint64_t begin = truth_thread_cpu_ns(), now = begin;

	pthread_setname_np(pthread_self(), "mayfly");
	while (now < life->budget_ns) {
		life->sink = live_shortly(200000);
		now = truth_thread_cpu_ns();
	}
	life->spent_ns = now - begin;
	life->cpu_ns = now;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 1600);

	for (int i = 0; i < THREADS; i += 2) {
		struct short_life lives[2] = { { .budget_ns = budget / THREADS },
					       { .budget_ns = budget / THREADS } };

		for (int k = 0; k < 2; k++)
			if (pthread_create(&lives[k].thread, NULL, run, &lives[k]) != 0)
				abort();
		for (int k = 0; k < 2; k++) {
			pthread_join(lives[k].thread, NULL);
			truth_add(TRUTH_SELF, "live_shortly", lives[k].spent_ns);
			truth_add(TRUTH_THREAD, "mayfly", lives[k].cpu_ns);
		}
	}
	truth_print();
	return 0;
}
