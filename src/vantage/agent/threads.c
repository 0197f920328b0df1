/*
 * threads - threads that begin, and images that go.
 */
#include "vantage/agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "vantage/agent/hooks.h"

AGENT_EXPORT int dlclose(void *handle)
{
	int rc = HOOK_NEXT(dlclose)(handle);
	struct ring_header *ring = agent.ring;

	if (ring != NULL) {
		unwind_flush();
		if (agent.has_timers)
			emit_flush(ring);
	}
	return rc;
}

/* What a new thread is to run, handed over without allocating. */
struct thread_start {
	void *(*routine)(void *);
	void *argument;
	u32 state; /* 0 free, 1 taken */
};
#define THREAD_STARTS 256
static struct thread_start thread_starts[THREAD_STARTS];

static struct thread_start *thread_start_take(void)
{
	for (u32 i = 0; i < THREAD_STARTS; i++) {
		u32 is_free = 0;

		if (__atomic_compare_exchange_n(&thread_starts[i].state, &is_free, 1, 0,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &thread_starts[i];
	}
	return NULL;
}

static void *thread_run(void *argument)
{
	struct thread_start *shared = argument;
	struct thread_start start = *shared;
	const struct ring_header *ring = agent.ring;

	/* Pairs with the acquire in thread_start_take(). */
	__atomic_store_n(&shared->state, 0, __ATOMIC_RELEASE);
	if (ring != NULL && agent.has_timers)
		timers_arm_thread(ring);
	return start.routine(start.argument);
}

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				void *(*routine)(void *), void *argument)
{
	struct thread_start *start = NULL;

	if (agent.has_timers)
		start = thread_start_take();
	/* With 256 threads being born at this moment, one goes unsampled. */
	if (start == NULL)
		return HOOK_NEXT(pthread_create)(thread, attributes, routine, argument);
	start->routine = routine;
	start->argument = argument;
	int rc = HOOK_NEXT(pthread_create)(thread, attributes, thread_run, start);

	if (rc != 0)
		__atomic_store_n(&start->state, 0, __ATOMIC_RELEASE);
	return rc;
}
