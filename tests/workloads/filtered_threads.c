/*
 * filtered_threads - three threads that have begun burn 150 ms each after the first thread has put up
 * a filter of system calls for all of them.  77: there are no filters for all threads.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "truth.h"

#define THREADS 3
#define BURN_NS 150000000ULL

static pthread_barrier_t is_filtered;
static volatile uint64_t sink;

KEEP static void filtered_burn(void)
{
	while (truth_thread_cpu_ns() < BURN_NS) {
		for (int i = 0; i < 100000; i++)
			sink = sink * 6364136223846793005u + 1442695040888963407u;
	}
}

static void *run(void *argument)
{
	const char *const names[THREADS] = { "first", "second", "third" };

	pthread_setname_np(pthread_self(), names[(uintptr_t)argument]);
	pthread_barrier_wait(&is_filtered);
	filtered_burn();
	return NULL;
}

int main(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { .len = 1, .filter = &allow };
	pthread_t threads[THREADS];

	pthread_barrier_init(&is_filtered, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) !=
		    0)
		return 77;
	pthread_barrier_wait(&is_filtered);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
