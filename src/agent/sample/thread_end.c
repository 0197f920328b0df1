#include "agent/sample/thread_end.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/control/control.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/sample/interposed.h"
#include "agent/core/thread_key.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock.h"
#include "agent/sample/emit.h"
#include "agent/sample/kernel_ticks.h"
#include "agent/sample/timers.h"

static struct {
	pthread_key_t key;
	bool has_key;
} thread_end AGENT_STATE;

static void expect_destructor(void)
{
	pthread_setspecific(thread_end.key, &thread_notes);
}

AGENT_START static bool may_look(const struct ring_header *ring)
{
	return ring != NULL && __atomic_load_n(&permits.may_call, __ATOMIC_RELAXED);
}

/* A vfork child's memory is its parent's, whose process goes on. */
AGENT_START static bool may_end_process(const struct ring_header *ring)
{
	return may_look(ring) && !agent_is_of_another();
}

static void account_rest(struct ring_header *ring)
{
	/* A trap meanwhile would count this time, too. */
	thread_notes.is_in_agent = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const struct sample_time time = clock_end_thread(ring);

	if (time.weight_ns > 0 && control_is_paused())
		emit_paused(ring, &time);
	else if (time.weight_ns > 0)
		emit_end(ring, &time, thread_notes.start_function);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_notes.is_in_agent = false;
}

/*
 * Our destructor is called first in a round, before the program's, which use CPU time.  So it
 * asks to be called in the next round again.
 */
static void on_thread_end(void *value)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);

	(void)value;
	if (!thread_notes.is_ending) {
		thread_notes.is_ending = true;
		expect_destructor();
	} else if (may_look(ring)) {
		account_rest(ring);
		kernel_ticks_end_thread();
		/* Another thread may have made the timer: timers.c. */
		timers_disarm_thread();
	}
}

AGENT_START void thread_end_begin(void)
{
	if (!thread_end.has_key)
		thread_end.has_key = thread_key_new(&thread_end.key, on_thread_end);
}

void thread_end_expect(u64 start_function)
{
	if (!thread_end.has_key)
		return;
	thread_notes.start_function = start_function;
	/* Now: its first sample has come, or may come under a filter that forbids calls. */
	thread_notes.born_tid = thread_notes.tid != 0
					? thread_notes.tid
					: (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0);
	clock_expect_end();
	expect_destructor();
}

AGENT_START void thread_end_of_process(void)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);

	if (may_end_process(ring))
		__atomic_store_n(&ring->end_cpu_ns, clock_process_ns(ring), __ATOMIC_RELAXED);
}

void thread_end_take_back(void)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);

	if (may_end_process(ring))
		__atomic_store_n(&ring->end_cpu_ns, 0, __ATOMIC_RELAXED);
}

AGENT_START __attribute__((destructor)) static void on_exit_end(void)
{
	thread_end_of_process();
}

AGENT_START AGENT_EXPORT void(_exit)(int status)
{
	thread_end_of_process();
	HOOK_NEXT(_exit)(status);
	__builtin_unreachable();
}

AGENT_START AGENT_EXPORT void(_Exit)(int status)
{
	thread_end_of_process();
	HOOK_NEXT(_Exit)(status);
	__builtin_unreachable();
}
