/*
 * calibrate - what measuring a call costs here, found out before the program begins.
 *
 * The thread that an interpreter begins on runs small loops with its hooks and without them.  What
 * hooks report meanwhile goes to a table of its own: nothing of it is in the recording, or in the
 * time of what the thread was executing.  Rules say of which loops a kind's cost is the mean; their
 * differences are its spread, for a call costs more or less by what stands around it.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"
#include "abi/types.h"

/* Of a loop, for one turn of it; times are in ticks * TRACE_COST_UNIT. */
struct trace_measured {
	s64 plain; /* how long it takes without hooks */
	s64 added; /* and how much longer with them, but for what is in no call's time */
	s64 inner; /* in the calls' own times */
	s64 noise; /* half of what the quicker half of all rounds lies in */
	s64 calls;
	s64 uncounted[TRACE_UNCOUNTED_COUNT];
};
/*
 * What a loop's calls execute themselves: so much of what another loop takes longer than the first
 * one, which calls nothing.  For a function that loop has the same inlined; of a builtin a quarter
 * of the very loop is taken for it, of what a generator does a half.
 */
struct trace_loop {
	u8 like;
	u16 permille;
};

/* How a kind of hooks is calibrated. */
struct trace_calibration {
	void *context;
	/* Runs a loop once, with hooks or without; false: it cannot be run. */
	bool (*run)(void *context, u32 loop, bool has_hooks);
	/* Switches hooks on or off before loops are run; NULL: there is nothing to switch. */
	bool (*set)(void *context, bool has_hooks);
	/* They are not switched off again: all loops are run without them first. */
	bool stays_on;
	u32 turns; /* of every loop */
	u32 depth; /* that calls are counted from: the loops themselves are called in 1 */
	const struct trace_loop *loops;
	u32 count; /* of loops */
};
#define TRACE_LOOPS_MAX 32U
/*
 * Runs the loops in turns.  False: there is no memory, or one could not be run; then nothing is
 * known.
 */
bool trace_calibrate(const struct trace_calibration *calibration,
		     struct trace_measured *out_measured);
/* In a child of fork, which has no other thread. */
void trace_calibrate_forget_others(void);

/* costs.c: what loops have shown. */
struct trace_rule {
	enum trace_kind kind;
	u8 count; /* of loops, whose calls' mean is a call's cost */
	u8 own_count; /* of the first so many it is known what they execute themselves; 0: of none */
	u8 loops[5];
};
/*
 * By a rule; where nothing says how much of it is inside, as much as in `alike` (or NULL).  False:
 * calls of these loops were not counted.
 */
bool trace_find_cost(const struct trace_calibration *calibration,
		     const struct trace_measured *measured, const struct trace_rule *rule,
		     const struct trace_cost *alike, struct trace_cost *out_cost);
/* A cost of an event that makes no call. */
struct trace_cost trace_uncounted_cost(s64 ticks, s64 spread);
/* Written for the recorder: a kind, or TRACE_KIND_COUNT and an event that makes no call. */
void trace_report_cost(u32 number, const struct trace_cost *cost);
bool trace_cost_is_known(enum trace_kind kind);
/* All that is known, once more: in a child of fork, which has an area of its own. */
void trace_report_costs(void);
/* The speed that the processor had meanwhile: ticks of a burst (processor_speed.h). */
void trace_set_burst(u32 ticks);

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
