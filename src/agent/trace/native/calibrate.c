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
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/native/loops.h"
#include "agent/trace/native/native.h"
#include "agent/trace/native/native_internal.h"
#include "walk/native.h"

#define TURNS        100U
#define SIGSET_BYTES 8

typedef void loop_function(u32 loop, u32 turns, bool has_hooks);

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	loop_function *const *run = context;

	(*run)(loop, TURNS, has_hooks);
	return true;
}

/* What a loop's calls took of their own, but for what is the same in one where it is inlined. */
static s64 inner_of(const struct trace_measured *measured, enum native_loop loop,
		    enum native_loop inlined)
{
	return measured[loop].inner -
	       (measured[inlined].plain - measured[NATIVE_LOOP_NOTHING].plain);
}

static struct trace_found_cost find_cost(const struct trace_measured *measured)
{
	static const u8 loops[] = { NATIVE_LOOP_EMPTY, NATIVE_LOOP_WORK, NATIVE_LOOP_LONG,
				    NATIVE_LOOP_NESTED };
	struct trace_found_cost found =
		trace_find_call(measured, loops, sizeof loops / sizeof *loops);
	const s64 work_itself =
		measured[NATIVE_LOOP_WORK_INLINE].plain - measured[NATIVE_LOOP_NOTHING].plain;

	/* Of an empty function all is the hook's. */
	found.inside = (measured[NATIVE_LOOP_EMPTY].inner +
			inner_of(measured, NATIVE_LOOP_WORK, NATIVE_LOOP_WORK_INLINE) +
			inner_of(measured, NATIVE_LOOP_LONG, NATIVE_LOOP_LONG_INLINE)) /
		       3;
	/* Its three calls together have the work once. */
	found.inside_miss = (measured[NATIVE_LOOP_THREE].inner - work_itself) / 3;
	found.call_miss = trace_cost_of_call(measured, NATIVE_LOOP_THREE);
	return found;
}

void trace_calibrate_native(enum trace_kind kind)
{
	static loop_function *const loops[] = {
		[TRACE_KIND_INSTRUMENTED] = trace_native_loop_instrumented,
#if defined(__x86_64__)
		[TRACE_KIND_MCOUNT] = trace_native_loop_mcount,
		[TRACE_KIND_FENTRY] = trace_native_loop_fentry,
#endif
	};
	loop_function *run = loops[kind];
	struct trace_measured measured[NATIVE_LOOP_COUNT];
	const struct trace_calibration calibration = {
		.context = &run, .run = run_loop, .turns = TURNS, .depth = 2
	};
	const u64 all = ~0ULL;
	u64 before = 0;

	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, SIGSET_BYTES);
	if (trace_calibrate(&calibration, NATIVE_LOOP_COUNT, measured) &&
	    trace_calls_of_loop(measured, NATIVE_LOOP_THREE) >= 3) {
		const struct trace_found_cost found = find_cost(measured);

		trace_report_cost(kind, &found);
	}
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, SIGSET_BYTES);
}
