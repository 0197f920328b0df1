#include "agent/trace/calibrate.h"

#include <stddef.h>

#include "agent/core/agent.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/processor_speed.h"

/* The first ones warm up what caches and predicts, and let the interpreter specialise. */
#define WARM_ROUNDS 2U
#define ROUNDS      9U
/* Of a loop's rounds in order: quiet ones, for what else the machine does only adds. */
#define UNDISTURBED_FIRST 1U
#define UNDISTURBED_LAST  3U
#define LOOPS_MAX         32U

/* Of one loop, by round. */
struct rounds {
	s64 plain[ROUNDS], traced[ROUNDS], inner[ROUNDS], left_out[ROUNDS];
	s64 burst_plain[ROUNDS], burst_traced[ROUNDS];
};

static struct {
	struct trace_aside aside;
	u32 is_taken;
	struct rounds rounds[LOOPS_MAX];
} calibrating;

/* What a table has, all nodes together. */
struct sums {
	u64 calls, misses, inner, left_out;
	u64 uncounted[TRACE_UNCOUNTED_COUNT];
};

static struct sums sums_of(const struct call_stack *calls, u32 depth)
{
	struct sums sums = { .left_out = calls->area->threads[calls->slot].left_out_ticks };

	/* The table is this thread's alone: its chunks follow each other. */
	for (u32 number = TRACE_CHUNK_NODES;
	     number < calls->chunk * TRACE_CHUNK_NODES + calls->used; number++) {
		const struct trace_node *node = trace_node_at(calls, number);
		const struct trace_overhead *overhead = &calls->area->overheads[number];

		if (node->depth >= depth) {
			sums.calls += node->calls;
			sums.misses += overhead->misses;
			sums.inner += node->self_ticks;
		}
		for (u32 what = 0; what < TRACE_UNCOUNTED_COUNT; what++)
			sums.uncounted[what] += overhead->uncounted[what];
	}
	return sums;
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

/* The mean of the quiet ones, of values that are in order. */
static s64 undisturbed_mean(const s64 *values)
{
	s64 sum = 0;

	for (u32 i = UNDISTURBED_FIRST; i <= UNDISTURBED_LAST; i++)
		sum += values[i];
	return sum / (UNDISTURBED_LAST - UNDISTURBED_FIRST + 1);
}

/*
 * What caches and predicts has been another loop's, and memory that was made writable and
 * unwritable again is not in the TLB: a loop is run once before it is timed.
 */
static bool warm_up(const struct trace_calibration *calibration, u32 loop, bool has_hooks)
{
	return calibration->run(calibration->context, loop, has_hooks);
}

static bool run_once(const struct trace_calibration *calibration, u32 loop, bool has_hooks,
		     u64 *out_ticks)
{
	const u64 start = ticks_now();
	const bool is_run = calibration->run(calibration->context, loop, has_hooks);

	*out_ticks = ticks_now() - start;
	return is_run;
}

static bool run_plain(const struct trace_calibration *calibration, u32 loop, u32 round)
{
	struct rounds *rounds = &calibrating.rounds[loop];

	if (!warm_up(calibration, loop, false))
		return false;
	const u32 burst = trace_speed_measure();
	u64 ticks = 0;

	if (!run_once(calibration, loop, false, &ticks))
		return false;
	if (round < WARM_ROUNDS)
		return true;
	round -= WARM_ROUNDS;
	rounds->plain[round] = (s64)ticks * TRACE_COST_UNIT / (s64)calibration->turns;
	rounds->burst_plain[round] = burst;
	return true;
}

static bool run_traced(const struct trace_calibration *calibration, u32 loop, u32 round,
		       struct trace_measured *measured)
{
	struct rounds *rounds = &calibrating.rounds[loop];
	const s64 unit = TRACE_COST_UNIT;
	const s64 turns = calibration->turns;

	if (!warm_up(calibration, loop, true))
		return false;
	const u32 burst = trace_speed_measure();
	const struct sums before = sums_of(&calibrating.aside.calls, calibration->depth);
	u64 ticks = 0;

	if (!run_once(calibration, loop, true, &ticks))
		return false;
	const struct sums after = sums_of(&calibrating.aside.calls, calibration->depth);

	if (round < WARM_ROUNDS)
		return true;
	round -= WARM_ROUNDS;
	rounds->burst_traced[round] = burst;
	rounds->traced[round] = (s64)ticks * unit / turns;
	rounds->inner[round] = (s64)(after.inner - before.inner) * unit / turns;
	rounds->left_out[round] = (s64)(after.left_out - before.left_out) * unit / turns;
	measured->turns += calibration->turns;
	measured->calls += after.calls - before.calls;
	measured->misses += after.misses - before.misses;
	for (u32 i = 0; i < TRACE_UNCOUNTED_COUNT; i++)
		measured->uncounted[i] += after.uncounted[i] - before.uncounted[i];
	return true;
}

/* Of a loop; the speed as of any round: which are undisturbed, its own time shows and a burst does not. */
static void sum_up(struct rounds *rounds, struct trace_measured *measured)
{
	sort(rounds->burst_plain);
	sort(rounds->burst_traced);
	sort(rounds->plain);
	sort(rounds->traced);
	sort(rounds->inner);
	sort(rounds->left_out);
	measured->burst_ticks = rounds->burst_traced[ROUNDS / 2];
	measured->plain = undisturbed_mean(rounds->plain);
	measured->inner = undisturbed_mean(rounds->inner);
	measured->left_out = undisturbed_mean(rounds->left_out);
	measured->noise = (rounds->traced[ROUNDS / 2] - rounds->traced[0]) / 2;
}

/*
 * What loops took without hooks is taken for the speed at which they ran with them: where all
 * rounds of one kind came first, the processor may have had another meanwhile.  Of all loops
 * together, for phases are longer than a calibration, as a rule, and one burst says little.
 */
static void compare(struct trace_measured *measured, u32 count)
{
	s64 without = 0, with = 0;

	for (u32 loop = 0; loop < count; loop++) {
		without += calibrating.rounds[loop].burst_plain[ROUNDS / 2];
		with += measured[loop].burst_ticks;
	}
	for (u32 loop = 0; loop < count; loop++) {
		if (without > 0)
			measured[loop].plain = measured[loop].plain * with / without;
		measured[loop].added = undisturbed_mean(calibrating.rounds[loop].traced) -
				       measured[loop].plain;
	}
	trace_set_burst((u32)(with / count));
}

enum runs {
	RUNS_PLAIN = 1,
	RUNS_TRACED = 2,
};

static bool run_round(const struct trace_calibration *calibration, u32 count, u32 round,
		      struct trace_measured *measured)
{
	const bool has_hooks = measured != NULL;

	if (calibration->set != NULL)
		calibration->set(calibration->context, has_hooks);
	for (u32 loop = 0; loop < count; loop++) {
		if (has_hooks ? !run_traced(calibration, loop, round, &measured[loop])
			      : !run_plain(calibration, loop, round))
			return false;
	}
	return true;
}

static bool run_rounds(const struct trace_calibration *calibration, u32 count, u32 runs,
		       struct trace_measured *measured)
{
	for (u32 round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
		if (((runs & RUNS_PLAIN) && !run_round(calibration, count, round, NULL)) ||
		    ((runs & RUNS_TRACED) && !run_round(calibration, count, round, measured)))
			return false;
	}
	return true;
}

static bool run_all(const struct trace_calibration *calibration, u32 count,
		    struct trace_measured *measured)
{
	const bool is_run =
		calibration->begin == NULL
			? run_rounds(calibration, count, RUNS_PLAIN | RUNS_TRACED, measured)
			: run_rounds(calibration, count, RUNS_PLAIN, measured) &&
				  calibration->begin(calibration->context) &&
				  run_rounds(calibration, count, RUNS_TRACED, measured);

	if (!is_run)
		return false;
	for (u32 loop = 0; loop < count; loop++)
		sum_up(&calibrating.rounds[loop], &measured[loop]);
	compare(measured, count);
	return true;
}

bool trace_calibrate(const struct trace_calibration *calibration, u32 count,
		     struct trace_measured *out_measured)
{
	bool is_done = false;

	if (count > LOOPS_MAX || !agent.may_read_counter ||
	    __atomic_exchange_n(&calibrating.is_taken, 1, __ATOMIC_ACQUIRE) != 0)
		return false;
	if (trace_begin_aside(&calibrating.aside)) {
		for (u32 i = 0; i < count; i++)
			out_measured[i] = (struct trace_measured){ 0 };
		is_done = run_all(calibration, count, out_measured);
		trace_end_aside(&calibrating.aside);
	}
	__atomic_store_n(&calibrating.is_taken, 0, __ATOMIC_RELEASE);
	return is_done;
}

void trace_calibrate_forget_others(void)
{
	__atomic_store_n(&calibrating.is_taken, 0, __ATOMIC_RELAXED);
}
