#include "agent/trace/calibrate.h"

#include <stddef.h>

#include "agent/core/permits.h"
#include "agent/trace/calls.h"
#include "agent/trace/processor_speed.h"

/* The first rounds warm up caches and predictors, and let the interpreter specialise. */
#define WARM_ROUNDS 2U
#define ROUNDS      9U
/* Of a loop's rounds, sorted by time, these are averaged: disturbances only add time. */
#define QUIET_FIRST 1U
#define QUIET_LAST  3U

/* One loop's results by round, without hooks or with them. */
struct rounds {
	s64 ticks[ROUNDS], inner[ROUNDS], bursts[ROUNDS];
};

static struct {
	struct trace_aside aside;
	u32 is_taken;
	struct rounds rounds[TRACE_LOOPS_MAX][2];
} calibrating;

/* Totals over all nodes of the tree. */
struct sums {
	u64 calls, inner, left_out;
	u64 uncounted[TRACE_UNCOUNTED_COUNT];
};

static struct sums sums_of(const struct call_stack *calls, u32 depth)
{
	struct sums sums = { .left_out = calls->area->threads[calls->slot].left_out_ticks };

	/* No other thread uses this area, so its chunks are consecutive. */
	for (u32 number = TRACE_CHUNK_NODES;
	     number < calls->chunk * TRACE_CHUNK_NODES + calls->used; number++) {
		const struct trace_node *node = trace_node_at(calls, number);

		if (node->depth >= depth) {
			sums.calls += node->calls;
			sums.inner += node->self_ticks;
		}
		for (u32 what = 0; what < TRACE_UNCOUNTED_COUNT; what++)
			sums.uncounted[what] += calls->area->overheads[number].uncounted[what];
	}
	return sums;
}

/*
 * Runs a loop once before timing it: caches and predictors hold another loop's state, and pages
 * that were made writable and unwritable again are not in the TLB.
 */
static bool run(const struct trace_calibration *calibration, u32 loop, bool has_hooks,
		u32 round, struct trace_measured *measured)
{
	struct rounds *rounds = &calibrating.rounds[loop][has_hooks];
	const struct call_stack *calls = &calibrating.aside.calls;
	const s64 turns = calibration->turns;

	if (!calibration->run(calibration->context, loop, has_hooks))
		return false;
	const u32 burst = trace_speed_measure();
	const struct sums before = sums_of(calls, calibration->depth);
	const u64 start = ticks_now();
	const bool is_run = calibration->run(calibration->context, loop, has_hooks);
	const u64 ticks = ticks_now() - start;
	const struct sums after = sums_of(calls, calibration->depth);

	if (round < WARM_ROUNDS || !is_run)
		return is_run;
	round -= WARM_ROUNDS;
	rounds->bursts[round] = burst;
	rounds->ticks[round] =
		(s64)(ticks - (after.left_out - before.left_out)) * TRACE_COST_UNIT / turns;
	rounds->inner[round] = (s64)(after.inner - before.inner) * TRACE_COST_UNIT / turns;
	measured->calls = (s64)(after.calls - before.calls) / turns;
	for (u32 i = 0; i < TRACE_UNCOUNTED_COUNT; i++)
		measured->uncounted[i] =
			(s64)(after.uncounted[i] - before.uncounted[i]) / turns;
	return true;
}

static bool run_round(const struct trace_calibration *calibration, bool has_hooks, u32 round,
		      struct trace_measured *measured)
{
	for (u32 loop = 0; loop < calibration->count; loop++) {
		if (!run(calibration, loop, has_hooks, round, &measured[loop]))
			return false;
	}
	return true;
}

static bool switch_hooks(const struct trace_calibration *calibration, bool has_hooks)
{
	return calibration->set == NULL || calibration->set(calibration->context, has_hooks);
}

static bool run_all(const struct trace_calibration *calibration,
		    struct trace_measured *measured)
{
	const u32 rounds = WARM_ROUNDS + ROUNDS;

	for (u32 i = 0; i < 2 * rounds; i++) {
		const bool has_hooks = calibration->stays_on ? i >= rounds : i % 2 == 1;
		const bool is_to_be_set = !calibration->stays_on || i == rounds;

		if ((is_to_be_set && !switch_hooks(calibration, has_hooks)) ||
		    !run_round(calibration, has_hooks,
			       calibration->stays_on ? i % rounds : i / 2, measured))
			return false;
	}
	return true;
}

static void sort(s64 *values)
{
	for (u32 i = 1; i < ROUNDS; i++) {
		const s64 value = values[i];
		u32 at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* The mean of the quiet rounds. */
static s64 quiet_mean(s64 *values)
{
	s64 sum = 0;

	sort(values);
	for (u32 i = QUIET_FIRST; i <= QUIET_LAST; i++)
		sum += values[i];
	return sum / (QUIET_LAST - QUIET_FIRST + 1);
}

/* The median: a burst's time does not show which rounds were undisturbed, as a loop's does. */
static s64 burst_of(struct rounds *rounds)
{
	sort(rounds->bursts);
	return rounds->bursts[ROUNDS / 2];
}

/*
 * Scales the time of the loops without hooks to the processor speed of the loops with them: where
 * all rounds of one kind came first, the speed may have changed in between.  One factor for all
 * loops together: a phase of one speed mostly lasts longer than a calibration, and a single burst
 * says little.
 */
static void sum_up(const struct trace_calibration *calibration, struct trace_measured *measured)
{
	s64 bursts[2] = { 0 };

	for (u32 loop = 0; loop < calibration->count; loop++) {
		for (u32 i = 0; i < 2; i++)
			bursts[i] += burst_of(&calibrating.rounds[loop][i]);
	}
	for (u32 loop = 0; loop < calibration->count; loop++) {
		struct rounds *plain = &calibrating.rounds[loop][false];
		struct rounds *traced = &calibrating.rounds[loop][true];
		struct trace_measured *out = &measured[loop];

		out->plain = quiet_mean(plain->ticks);
		if (bursts[false] > 0)
			out->plain = out->plain * bursts[true] / bursts[false];
		out->added = quiet_mean(traced->ticks) - out->plain;
		out->inner = quiet_mean(traced->inner);
		out->noise = (traced->ticks[ROUNDS / 2] - traced->ticks[0]) / 2;
	}
	trace_set_burst((u32)(bursts[true] / calibration->count));
}

bool trace_calibrate(const struct trace_calibration *calibration,
		     struct trace_measured *out_measured)
{
	bool is_done = false;

	if (calibration->count > TRACE_LOOPS_MAX || !permits.may_read_counter ||
	    __atomic_exchange_n(&calibrating.is_taken, 1, __ATOMIC_ACQUIRE) != 0)
		return false;
	if (trace_begin_aside(&calibrating.aside)) {
		is_done = run_all(calibration, out_measured);
		if (is_done)
			sum_up(calibration, out_measured);
		trace_end_aside(&calibrating.aside);
	}
	__atomic_store_n(&calibrating.is_taken, 0, __ATOMIC_RELEASE);
	return is_done;
}

void trace_calibrate_forget_others(void)
{
	__atomic_store_n(&calibrating.is_taken, 0, __ATOMIC_RELAXED);
}
