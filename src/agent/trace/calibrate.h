/*
 * calibrate - measures what tracing a call costs on this machine, before the program begins.
 *
 * The thread that starts an interpreter runs small loops with hooks and without them.  Hooks count
 * these calls in an area of their own: the recording has none of them, nor is their time in the
 * functions that the thread was executing.  A rule names the loops whose mean is the cost of a
 * kind of call; the differences between these loops are the cost's spread, since a call's cost
 * depends on the code around it.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"
#include "abi/types.h"

/* One turn of a loop; times are in ticks * TRACE_COST_UNIT. */
struct trace_measured {
	s64 plain; /* its time without hooks */
	s64 added; /* additional time with hooks, without time that is left out of all calls */
	s64 inner; /* self time of the calls */
	s64 noise; /* half the range of the quicker half of all rounds */
	s64 calls;
	s64 uncounted[TRACE_UNCOUNTED_COUNT];
};
/*
 * Estimates what a loop's callees execute themselves: permille of the time by which the loop
 * `like` exceeds loop 0, which calls nothing.  For a function, `like` has the callee's body
 * inlined; for a builtin a quarter of the loop itself is taken, for a generator a half.
 */
struct trace_loop {
	u8 like;
	u16 permille;
};

/* How to calibrate one kind of hooks. */
struct trace_calibration {
	void *context;
	/* Runs a loop once, with hooks or without; false: it cannot be run. */
	bool (*run)(void *context, u32 loop, bool has_hooks);
	/* Switches hooks on or off before loops are run; NULL: there is nothing to switch. */
	bool (*set)(void *context, bool has_hooks);
	/* Hooks cannot be switched off again: all rounds without them come first. */
	bool stays_on;
	u32 turns; /* in every loop */
	u32 depth; /* of the shallowest nodes that are counted; the loops themselves are at 1 */
	const struct trace_loop *loops;
	u32 count; /* number of loops */
};
#define TRACE_LOOPS_MAX 32U
/* Runs the loops in turns.  False: no memory, or a loop failed; out_measured is undefined. */
bool trace_calibrate(const struct trace_calibration *calibration,
		     struct trace_measured *out_measured);
/* In a child of fork: no other thread is calibrating. */
void trace_calibrate_forget_others(void);

/* costs.c: turns the loops' results into costs. */
struct trace_rule {
	enum trace_kind kind;
	u8 count;     /* number of loops; the mean over their calls is the cost */
	u8 own_count; /* of the first so many loops struct trace_loop has the callees' own time */
	u8 loops[5];
};
/*
 * The cost of a call by a rule.  Where own_count is 0, the inside part is the same fraction as in
 * `alike` (or NULL).  False: no calls of these loops were counted.
 */
bool trace_find_cost(const struct trace_calibration *calibration,
		     const struct trace_measured *measured, const struct trace_rule *rule,
		     const struct trace_cost *alike, struct trace_cost *out_cost);
/* The cost of an event that makes no call. */
struct trace_cost trace_uncounted_cost(s64 ticks, s64 spread);
/* Stores a cost for the recorder.  number: a kind, or TRACE_KIND_COUNT + enum trace_uncounted. */
void trace_report_cost(u32 number, const struct trace_cost *cost);
bool trace_cost_is_known(enum trace_kind kind);
/* Stores all known costs again: a child of fork has an area of its own. */
void trace_report_costs(void);
/* The processor's speed during calibration: ticks of a burst (processor_speed.h). */
void trace_set_burst(u32 ticks);

/* native/calibrate.c: compiled code, before the first event of a kind is counted. */
void trace_calibrate_native(enum trace_kind kind);
/* python/calibrate.c: */
struct trace_python_means {
	void *context;
	/* Makes the hooks report this code object's function while they are on. */
	bool (*prepare)(void *context, void *code);
	bool slows_bytecode; /* hooks also slow instructions that call nothing */
	/* Switches hooks on or off; NULL: prepared functions always have them. */
	void (*set)(void *context, bool has_hooks);
};
/* On a thread with the GIL and no exception set.  If it fails, costs stay unknown. */
void trace_calibrate_python(const struct trace_python_means *means);
/*
 * ruby/calibrate.c: on the interpreter's thread, in its execution context, before it has hooks;
 * adds the hooks at the right moment.  False: they were not added.
 */
bool trace_calibrate_ruby(u64 context, void (*add_hooks)(void));
