/*
 * throttle - leaves calls out for a while when tracing costs more than its budget
 * (`fathom trace --overhead`; the recorder decides: collect/calls/limit.h).
 *
 * Sets the time of the last event, and the starts of all open calls, to the far future.  So calls
 * that end meanwhile add no time, and a call that was open is neither its function's longest nor
 * its shortest.  The first call that begins after that continues from the present time.
 */
#include "agent/core/arch.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"

#define NEVER (~0ULL)

static void begin(struct call_stack *calls)
{
	trace_advance(calls, trace_now());
	for (struct trace_entry *entry = calls->entries; entry <= calls->top; entry++)
		entry->start_ticks = NEVER;
	calls->last_ticks = NEVER;
	calls->is_throttled = 1;
}

static void end(struct call_stack *calls)
{
	calls->last_ticks = trace_now();
	calls->is_throttled = 0;
}

bool trace_throttle(struct call_stack *calls)
{
	const bool is_asked =
		__atomic_load_n(&calls->area->is_throttled, __ATOMIC_RELAXED) != 0;
	const u64 level = arch_stack_pointer();

	/* A handler interrupted the hook that has the tree: the next event tries again. */
	if (is_asked == (calls->is_throttled != 0) || calls->busy != 0)
		return is_asked;
	trace_take(calls, level);
	if (is_asked)
		begin(calls);
	else
		end(calls);
	trace_give(calls, level);
	return is_asked;
}
