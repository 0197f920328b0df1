/* sample's row: what it does at the steps of a process's life. */
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/mechanism.h"
#include "agent/sample/clock.h"
#include "agent/sample/thread_end.h"
#include "agent/sample/trap.h"
#include "agent/sample/unwind.h"

AGENT_START static void begin(struct ring_header *ring, bool is_first)
{
	(void)is_first;
	clock_begin_thread();
	ring->start_cpu_ns = clock_process_ns(ring);
	if (!(agent.terms.flags & RING_TRACE))
		thread_end_begin();
}

static bool wants_thread(void)
{
	return __atomic_load_n(&agent.ring, __ATOMIC_RELAXED) != NULL &&
	       !(agent.terms.flags & RING_TRACE);
}

static void begin_thread(u64 start_function)
{
	if (wants_thread())
		thread_end_expect(start_function);
}

static void unloaded(u64 mark)
{
	(void)mark;
	if (agent.ring != NULL)
		unwind_flush();
}

extern const struct mechanism sample_mechanism;
const struct mechanism sample_mechanism = {
	.wait_for_hello = thread_end_begin,
	.begin = begin,
	.forget = trap_forget,
	.wants_thread = wants_thread,
	.begin_thread = begin_thread,
	.end_process = thread_end_of_process,
	.take_back_end = thread_end_take_back,
	.unloaded = unloaded,
};
