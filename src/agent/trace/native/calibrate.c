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
#define PER_MILLE    1000U
#define SIGSET_BYTES 8

typedef void loop_function(u32 loop, u32 turns, bool has_hooks);

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	loop_function *const *run = context;

	(*run)(loop, TURNS, has_hooks);
	return true;
}

static s64 cost_of(const struct trace_measured *measured, enum native_loop loop)
{
	return trace_cost_of_call(&measured[loop], &measured[NATIVE_LOOP_NOTHING]);
}

/* What a loop's calls took of their own, but for what is the same in one where it is inlined. */
static s64 inner_of(const struct trace_measured *measured, enum native_loop loop,
		    enum native_loop inlined)
{
	return measured[loop].inner -
	       (measured[inlined].plain - measured[NATIVE_LOOP_NOTHING].plain);
}

static struct trace_cost find_cost(const struct trace_measured *measured)
{
	const struct trace_measured *work = &measured[NATIVE_LOOP_WORK];
	const struct trace_measured *three = &measured[NATIVE_LOOP_THREE];
	const s64 work_itself =
		measured[NATIVE_LOOP_WORK_INLINE].plain - measured[NATIVE_LOOP_NOTHING].plain;
	const s64 costs[] = { cost_of(measured, NATIVE_LOOP_EMPTY),
			      cost_of(measured, NATIVE_LOOP_WORK),
			      cost_of(measured, NATIVE_LOOP_LONG),
			      cost_of(measured, NATIVE_LOOP_NESTED) };
	s64 spread = work->noise;
	const s64 call = trace_mean_cost(costs, sizeof costs / sizeof *costs, &spread);
	/* Of an empty function all is the hook's. */
	const s64 inside = (measured[NATIVE_LOOP_EMPTY].inner +
			    inner_of(measured, NATIVE_LOOP_WORK, NATIVE_LOOP_WORK_INLINE) +
			    inner_of(measured, NATIVE_LOOP_LONG, NATIVE_LOOP_LONG_INLINE)) /
			   3;
	/* Its three calls together have the work once. */
	const s64 inside_miss = (three->inner - work_itself) / 3;

	return (struct trace_cost){
		.inside = (s32)inside,
		.outside = (s32)(call - inside),
		.inside_miss = (s32)inside_miss,
		.outside_miss = (s32)(cost_of(measured, NATIVE_LOOP_THREE) - inside_miss),
		.spread = (u32)spread,
		.stretch_permille = PER_MILLE,
	};
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
	    measured[NATIVE_LOOP_THREE].calls >= 3 * measured[NATIVE_LOOP_THREE].turns)
		trace_set_cost(kind, find_cost(measured));
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, SIGSET_BYTES);
}
