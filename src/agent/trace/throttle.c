/*
 * Calls that are left out for a while, for they cost more than the recorder was given
 * (`fathom trace --overhead`; collect/calls/limit.h decides when).
 *
 * The last event is put into the future, and so are the beginnings of what is being executed: so ends
 * that come meanwhile add no time, and a call that was open then is neither its function's longest
 * nor its shortest.  The first beginning behind it goes on from there.
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

	/* A hook that a handler interrupted is at the tree: the thread sees it at its next event. */
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
