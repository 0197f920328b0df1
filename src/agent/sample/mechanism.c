/* sample's row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/mechanism.h"
#include "agent/core/regions.h"
#include "agent/sample/clock.h"
#include "agent/sample/interposed.h"
#include "agent/sample/java.h"
#include "agent/sample/kernel_ticks.h"
#include "agent/sample/delayed_handshake.h"
#include "agent/sample/thread_end.h"
#include "agent/sample/trap.h"
#include "agent/sample/unwind.h"

AGENT_START static void begin(struct ring_header *ring, bool is_first)
{
	(void)is_first;
	clock_begin_thread();
	trap_begin_thread();
	ring->start_cpu_ns = clock_process_ns(ring);
	ring->regions_address = regions_address();
	thread_end_begin();
	kernel_ticks_begin(ring);
}

static bool wants_thread(void)
{
	return __atomic_load_n(&own_ring.header, __ATOMIC_RELAXED) != NULL;
}

static void begin_thread(u64 start_function)
{
	if (wants_thread())
		thread_end_expect(start_function);
}

static void unloaded(u64 mark)
{
	(void)mark;
	if (own_ring.header != NULL)
		unwind_flush();
}

AGENT_START static void forget(void)
{
	delayed_handshake_forget();
	trap_forget();
}

static void before_thread(const void *caller)
{
	if (caller != NULL)
		java_look(caller);
}

HOOKS_DEFINE(sample_hooks, SAMPLE_HOOKS);

extern const struct mechanism sample_mechanism;
const struct mechanism sample_mechanism = {
	.hooks = &sample_hooks,
	.delay_handshake = delayed_handshake_begin,
	.wait_for_handshake = thread_end_begin,
	.make_handshake = delayed_handshake_now,
	.hold_handshake = delayed_handshake_hold,
	.release_handshake = delayed_handshake_go_on,
	.begin = begin,
	.forget = forget,
	.before_thread = before_thread,
	.wants_thread = wants_thread,
	.begin_thread = begin_thread,
	.end_process = thread_end_of_process,
	.take_back_end = thread_end_take_back,
	.unloaded = unloaded,
};
