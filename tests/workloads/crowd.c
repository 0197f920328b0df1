/*
 * crowd - so many threads that live at once: crowd [COUNT [MICROSECONDS]].  Each computes for 0.2 ms of
 * CPU time, or as long as that, and waits until all have.  Ends with 77 where there may not be as many.
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK_BYTES (64 << 10)
#define EACH_NS     200000ULL

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_may_end = PTHREAD_COND_INITIALIZER;
static int may_end;
static uint64_t each_ns = EACH_NS;
static uint64_t of_threads_ns;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static void *work_of_thread(void *argument)
{
	volatile uint64_t sink = 0;

	(void)argument;
	while (truth_thread_cpu_ns() < each_ns)
		sink = compute(2000);
	(void)sink;
	pthread_mutex_lock(&mutex);
	while (!may_end)
		pthread_cond_wait(&all_may_end, &mutex);
	pthread_mutex_unlock(&mutex);
	/* Behind the lock, which ten thousand want at once: waking the next is its time, too. */
	__atomic_fetch_add(&of_threads_ns, truth_thread_cpu_ns(), __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	pthread_t *threads = calloc(count, sizeof *threads);
	unsigned long made = 0;
	pthread_attr_t small;

	if (argc > 2)
		each_ns = strtoull(argv[2], NULL, 10) * 1000;
	if (threads == NULL || pthread_attr_init(&small) != 0 ||
	    pthread_attr_setstacksize(&small, STACK_BYTES) != 0)
		return 1;
	while (made < count &&
	       pthread_create(&threads[made], &small, work_of_thread, NULL) == 0)
		made++;
	pthread_mutex_lock(&mutex);
	may_end = 1;
	pthread_cond_broadcast(&all_may_end);
	pthread_mutex_unlock(&mutex);
	for (unsigned long i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	if (made < count) {
		fprintf(stderr, "only %lu threads may live at once here\n", made);
		return 77;
	}
	truth_add(TRUTH_TOTAL, "work_of_thread", of_threads_ns);
	truth_add(TRUTH_COUNT, "threads", made);
	truth_print();
	return 0;
}
