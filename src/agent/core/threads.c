/*
 * threads - interposes the creation of threads, and dlclose().
 *
 * A new thread begins in a function of ours, which arms its timer where timers trigger and notes
 * the thread's start function, for its end (thread_end.h).
 */
#include "agent/core/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/interposed.h"
#include "agent/core/image_records.h"
#include "agent/core/mechanism.h"

static u64 mark_unload(void)
{
	u64 mark = 0;

	for (const struct mechanism *const *row = mechanisms; *row != NULL; row++) {
		if ((*row)->before_unload != NULL)
			mark |= (*row)->before_unload();
	}
	return mark;
}

AGENT_EXPORT int dlclose(void *handle)
{
	const u64 mark = mark_unload();
	int rc = HOOK_NEXT(dlclose)(handle);
	struct ring_header *ring = own_ring.header;

	MECHANISMS_DO(unloaded, (mark));
	if (ring != NULL && image_records_are_wanted())
		image_records_flush(ring);
	return rc;
}

/* A new thread's start function and argument, handed over without allocating. */
struct thread_start {
	union {
		void *(*run)(void *);      /* pthread_create()'s */
		int (*run_as_c11)(void *); /* thrd_create()'s */
	};
	void *argument;
	u32 state; /* 0 free, 1 taken */
};
#define THREAD_STARTS 1024
/* So many slots are tried: threads begin about in the order in which they are created. */
#define THREAD_STARTS_TRIED 64
static struct {
	struct thread_start all[THREAD_STARTS];
	u32 next;
} starts;

static struct thread_start *thread_start_take(void)
{
	for (u32 i = 0; i < THREAD_STARTS_TRIED; i++) {
		const u32 at = __atomic_fetch_add(&starts.next, 1, __ATOMIC_RELAXED);
		struct thread_start *start = &starts.all[at % THREAD_STARTS];
		u32 is_free = 0;

		if (__atomic_compare_exchange_n(&start->state, &is_free, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return start;
	}
	return NULL;
}

AGENT_START void threads_forget_others(void)
{
	for (u32 i = 0; i < THREAD_STARTS && own_process.has_had_threads; i++)
		__atomic_store_n(&starts.all[i].state, 0, __ATOMIC_RELAXED);
}

static void thread_start_give(struct thread_start *start)
{
	/* Pairs with the acquire in thread_start_take(). */
	__atomic_store_n(&start->state, 0, __ATOMIC_RELEASE);
}

/* In the new thread: takes its start function and argument. */
static struct thread_start thread_begin(struct thread_start *shared)
{
	const struct thread_start start = *shared;

	thread_start_give(shared);
	MECHANISMS_DO(begin_thread, ((u64)start.run));
	return start;
}

/* Ends in a tail call, so that stacks begin as they do without us. */
static void *thread_run(void *argument)
{
	const struct thread_start start = thread_begin(argument);

	return start.run(start.argument);
}

static int thread_run_as_c11(void *argument)
{
	const struct thread_start start = thread_begin(argument);

	return start.run_as_c11(start.argument);
}

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				void *(*routine)(void *), void *argument)
{
	struct thread_start *start;

	MECHANISMS_DO(make_handshake, ());
	start = MECHANISMS_ASK(wants_thread, ()) ? thread_start_take() : NULL;
	own_process.has_had_threads = true;
	MECHANISMS_DO(before_thread, (__builtin_return_address(0)));
	/* With a thousand threads starting at this moment, one starts without us. */
	if (start == NULL)
		return HOOK_NEXT(pthread_create)(thread, attributes, routine, argument);
	start->run = routine;
	start->argument = argument;
	const int rc = HOOK_NEXT(pthread_create)(thread, attributes, thread_run, start);

	if (rc != 0)
		thread_start_give(start);
	return rc;
}

AGENT_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	struct thread_start *start;

	MECHANISMS_DO(make_handshake, ());
	start = MECHANISMS_ASK(wants_thread, ()) ? thread_start_take() : NULL;
	own_process.has_had_threads = true;
	MECHANISMS_DO(before_thread, (NULL));
	if (start == NULL)
		return HOOK_NEXT(thrd_create)(thread, routine, argument);
	start->run_as_c11 = routine;
	start->argument = argument;
	const int rc = HOOK_NEXT(thrd_create)(thread, thread_run_as_c11, start);

	if (rc != thrd_success)
		thread_start_give(start);
	return rc;
}
