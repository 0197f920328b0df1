/*
 * Calibration of hooks in compiled code.  A hook's cost depends on the code around it, so loops of
 * calls are compiled with each flag.  It also depends on the processor, which predicts where
 * a call returns to, wrongly where the return address was replaced.  So the cost is measured at run
 * time, at a kind's first event, since most programs have one kind, or none.  Signals are blocked
 * for the half millisecond that it takes: their handlers may have hooks.
 *
 * A processor executes a hook in parallel with the program where the program waits for its own
 * results, so a hook may cost half of what it costs in an empty function.  No loop is like every
 * program: so there are loops of both sorts; the cost is their mean, and their distance from it
 * the uncertainty.
 */
#include <stddef.h>

#include "agent/core/blocked.h"
#include "agent/core/memory.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/native/loops.h"
#include "agent/trace/native/native.h"
#include "agent/trace/native/native_internal.h"
#include "walk/native.h"

#define TURNS 100U

typedef void loop_function(u32 loop, u32 turns, bool has_hooks);

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	loop_function *const *run = context;

	(*run)(loop, TURNS, has_hooks);
	return true;
}

static const struct trace_loop loops[NATIVE_LOOP_COUNT] = {
	[NATIVE_LOOP_WORK] = { NATIVE_LOOP_WORK_INLINE, 1000 },
	[NATIVE_LOOP_LONG] = { NATIVE_LOOP_LONG_INLINE, 1000 },
};

void trace_calibrate_native(enum trace_kind kind)
{
	static loop_function *const functions[] = {
		[TRACE_KIND_INSTRUMENTED] = trace_native_loop_instrumented,
#if defined(__x86_64__)
		[TRACE_KIND_MCOUNT] = trace_native_loop_mcount,
		[TRACE_KIND_FENTRY] = trace_native_loop_fentry,
#endif
	};
	const struct trace_rule rule = {
		.kind = kind,
		.count = 4,
		.own_count = 3,
		.loops = { NATIVE_LOOP_EMPTY, NATIVE_LOOP_WORK, NATIVE_LOOP_LONG,
			   NATIVE_LOOP_NESTED },
	};
	loop_function *run = functions[kind];
	struct trace_measured measured[NATIVE_LOOP_COUNT];
	const struct trace_calibration calibration = {
		.context = &run,
		.run = run_loop,
		.turns = TURNS,
		.depth = 2,
		.loops = loops,
		.count = NATIVE_LOOP_COUNT,
	};
	struct trace_cost cost;
	const u64 before = blocked_begin();

	if (trace_calibrate(&calibration, measured) &&
	    trace_find_cost(&calibration, measured, &rule, NULL, &cost))
		trace_report_cost(kind, &cost);
	blocked_end(before);
}
