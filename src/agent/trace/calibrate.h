/*
 * calibrate - what measuring a call costs here, found out before the program begins.
 *
 * The thread that an interpreter begins on runs small loops with its hooks and without them,
 * in turns.  What hooks report meanwhile goes to a table of its own: nothing of it is in the
 * recording, or in the time of what the thread was executing.
 *
 * The cost of a call of some kind is the same in all loops up to some nanoseconds, which depend
 * on what stands around the call; these are its spread.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

/* Of a loop; in ticks * TRACE_COST_UNIT, for one turn of it. */
struct trace_measured {
	s64 plain; /* how long it takes without hooks */
	s64 added; /* and how much longer with them */
	s64 noise; /* half of what the quicker half of all rounds lies in */
	s64 inner; /* of it, in the calls' own times */
	s64 left_out;
	s64 burst_ticks;   /* ticks of a burst beside it (processor_speed.h) */
	u64 calls, misses; /* by all rounds together */
	u64 uncounted[TRACE_UNCOUNTED_COUNT];
	u64 turns; /* of them */
};

/* How a kind of hooks is calibrated. */
struct trace_calibration {
	void *context;
	/*
	 * Switches hooks on or off, before all loops are run once, each to warm up and then to be
	 * timed: it may take longer than a loop.  NULL: there is nothing to switch.
	 */
	void (*set)(void *context, bool has_hooks);
	/* Runs a loop once, with hooks or without; false: it cannot be run. */
	bool (*run)(void *context, u32 loop, bool has_hooks);
	/*
	 * Hooks that are not switched off again: called once every loop has been run without them.
	 * NULL: with hooks and without, in turns.
	 */
	bool (*begin)(void *context);
	u32 turns; /* of every loop */
	u32 depth; /* that calls are counted from: the loops themselves are called in 1 */
};

/*
 * Runs `count` loops in turns.  False: there is no memory, or one could not be run; then
 * nothing is known.
 */
bool trace_calibrate(const struct trace_calibration *calibration, u32 count,
		     struct trace_measured *out_measured);
/*
 * costs.c: what loops have shown.  Of `measured`, the first is of a loop that calls nothing; costs are
 * in ticks * TRACE_COST_UNIT.
 */
struct trace_found_cost {
	s64 call, spread; /* inside and outside together */
	s64 inside;
	s64 inside_miss, call_miss;
	u32 stretch; /* permille */
};
/* Calls in a turn of a loop. */
s64 trace_calls_of_loop(const struct trace_measured *measured, u32 loop);
/* What a turn costs for each of its calls, without what going round costs. */
s64 trace_cost_of_call(const struct trace_measured *measured, u32 loop);
/* The spread grows to what this loop's calls cost, and to how far its rounds are from each other. */
void trace_cover_loop(const struct trace_measured *measured, u32 loop,
		      struct trace_found_cost *io_cost);
/* The mean of some loops' costs of a call, with a spread that covers them. */
struct trace_found_cost trace_find_call(const struct trace_measured *measured, const u8 *loops,
					u32 count);
/* Of builtins: of their own time nothing is seen without hooks. */
struct trace_builtin_loops {
	u8 loops[8];
	u8 count;
	u8 bare;    /* the first ones do nothing but call; the others use what they get */
	u8 in_turn; /* calls some in turn: they are searched for */
};
struct trace_found_cost trace_find_builtins(const struct trace_measured *measured,
					    const struct trace_builtin_loops *of);
/* Written for the recorder; after this it may take it for granted. */
void trace_report_cost(enum trace_kind kind, const struct trace_found_cost *found);
void trace_set_uncounted_cost(enum trace_uncounted what, s64 ticks, s64 spread);
bool trace_cost_is_known(enum trace_kind kind);
/* All that is known, once more: in a child of fork, which has an area of its own. */
void trace_report_costs(void);
/* The speed that the processor had meanwhile: ticks of a burst (processor_speed.h). */
void trace_set_burst(u32 ticks);

/* In a child of fork, which has no other thread. */
void trace_calibrate_forget_others(void);

/* native/calibrate.c: of compiled code, before the first event of a kind is counted. */
void trace_calibrate_native(enum trace_kind kind);

/* python/calibrate.c: */
struct trace_python_means {
	void *context;
	/* Of a function that is to be seen when its hooks are on; its code object. */
	bool (*prepare)(void *context, void *code);
	bool slows_bytecode; /* also where nothing is called */
	/* From now on there are hooks, or none; NULL: those that were prepared have them. */
	void (*set)(void *context, bool has_hooks);
};
/* On a thread with the GIL and no exception.  Nothing is known if it cannot be done. */
void trace_calibrate_python(const struct trace_python_means *means);

/*
 * ruby/calibrate.c: on the interpreter's thread, which executes in this context and has no
 * hooks yet: adds them where they are to be added.  False: they have not been.
 */
bool trace_calibrate_ruby(u64 context, void (*add_hooks)(void));
