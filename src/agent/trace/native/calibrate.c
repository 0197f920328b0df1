/*
 * What a hook costs depends on the code around it, so loops of calls are compiled with each of
 * the flags; and on the processor, which foresees where a call returns to, and is wrong where
 * that was exchanged.  So it is found out here: at a kind's first event, for most programs have
 * one of them, or none.  Signals wait for the half millisecond that it takes: their handlers
 * may have hooks.
 *
 * A processor does a hook's work beside the program's where the latter waits for itself, so a hook
 * may cost half of what it costs in an empty function.  No loop is as a program is; so there are
 * both, their mean is taken, and how far they are from it is the uncertainty.
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
