/* trace's row in the table of mechanisms: what it does at each step of a process's life. */
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/cpu_time.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/clock.h"
#include "agent/trace/dlopened.h"
#include "agent/trace/interposed.h"
#include "agent/trace/map.h"
#include "agent/trace/names.h"
#include "agent/trace/native/images.h"
#include "agent/trace/native/native.h"
#include "agent/trace/native/signal_stack.h"
#include "agent/trace/only.h"
#include "agent/trace/python/greenlet.h"
#include "agent/trace/python/monitoring.h"
#include "agent/trace/regions.h"
#include "agent/trace/trace.h"

/* Tracing has begun in this process, or its parent: there is state to drop after fork. */
static bool is_tracing AGENT_STATE;

AGENT_START static void begin(struct ring_header *ring, bool is_first)
{
	(void)is_first;
	is_tracing = true;
	ring->start_cpu_ns = kernel_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	thread_notes.last_time_ns = kernel_clock_ns(CLOCK_MONOTONIC);
	trace_begin(ring);
}

AGENT_START static void forget(void)
{
	if (!is_tracing)
		return;
	trace_forget();
	trace_names_forget_others();
	trace_greenlet_forget_others();
	trace_monitoring_forget_others();
	trace_calibrate_forget_others();
}

AGENT_START static void after_fork(void)
{
	if (is_tracing)
		trace_adopt();
}

static void unloaded(u64 mark)
{
	trace_images_look(mark);
	if (own_ring.header != NULL)
		trace_dlopened_flush();
}

HOOKS_DEFINE(trace_hooks, TRACE_HOOKS);

extern const struct mechanism trace_mechanism;
const struct mechanism trace_mechanism = {
	.hooks = &trace_hooks,
	.start = trace_native_find_next,
	.begin = begin,
	.forget = forget,
	.after_fork = after_fork,
	.abandon = trace_abandon,
	.before_unload = trace_images_mark,
	.unloaded = unloaded,
	.name_code = trace_only_judge,
	.answer_call = trace_signal_stack_answer,
	.forbid_threads = trace_map_forbid,
	.forbid_counter = trace_forbid_counter,
	.allow_counter = trace_clock_thaw,
	.pause = trace_pause,
	.begin_region = trace_region_begin,
	.end_region = trace_region_end,
};
