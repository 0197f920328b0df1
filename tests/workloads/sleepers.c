/* sleepers - a hundred threads sleep, and one computes. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define SLEEPERS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake_up = PTHREAD_COND_INITIALIZER;
static int is_over;
static volatile uint64_t sink;

KEEP static uint64_t only_worker(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *sleep_until_over(void *argument)
{
	pthread_setname_np(pthread_self(), "sleeper");
	pthread_mutex_lock(&lock);
	while (!is_over)
		pthread_cond_wait(&wake_up, &lock);
	pthread_mutex_unlock(&lock);
	return argument;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	pthread_t threads[SLEEPERS];

	for (int i = 0; i < SLEEPERS; i++)
		if (pthread_create(&threads[i], NULL, sleep_until_over, NULL) != 0)
			abort();
	uint64_t begin = truth_thread_cpu_ns(), now = begin;
	for (uint64_t turn = 0; now < budget; turn++) {
		sink = only_worker(truth_vary(turn, 200000, 300000));
		now = truth_thread_cpu_ns();
	}
	truth_add(TRUTH_SELF, "only_worker", now - begin);
	truth_add(TRUTH_THREAD, "sleepers", now);
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&wake_up);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(threads[i], NULL);
	truth_print();
	return 0;
}
