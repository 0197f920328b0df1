/* What loops took with hooks and without them, to what a call costs; and that, for the recorder. */
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"

#define PER_MILLE 1000

/* A child of fork has its parent's hooks, and another area to say so in. */
static struct {
	struct trace_cost costs[TRACE_KIND_COUNT];
	struct trace_uncounted_cost uncounted[TRACE_UNCOUNTED_COUNT];
	u32 burst_ticks; /* when that was done last */
} calibrated;

static s64 magnitude(s64 value)
{
	return value < 0 ? -value : value;
}

s64 trace_calls_of_loop(const struct trace_measured *measured, u32 loop)
{
	const struct trace_measured *own = &measured[loop];

	return own->turns != 0 ? (s64)(own->calls / own->turns) : 0;
}

s64 trace_cost_of_call(const struct trace_measured *measured, u32 loop)
{
	const struct trace_measured *own = &measured[loop];
	const s64 calls = trace_calls_of_loop(measured, loop);
	/* Ruby's, that are reported in a turn: the loop's own, and what the callee is given. */
	const u64 blocks =
		own->turns != 0 ? own->uncounted[TRACE_UNCOUNTED_BUILTIN] / own->turns : 0;
	const s64 nothing =
		(measured[0].added - measured[0].left_out) * (s64)(blocks > 1 ? blocks : 1);

	return calls > 0 ? (own->added - own->left_out - nothing) / calls : 0;
}

void trace_cover_loop(const struct trace_measured *measured, u32 loop,
		      struct trace_found_cost *io_cost)
{
	const s64 off = magnitude(trace_cost_of_call(measured, loop) - io_cost->call);
	const s64 calls = trace_calls_of_loop(measured, loop);
	const s64 noise = measured[loop].noise / (calls > 0 ? calls : 1);

	io_cost->spread = off > io_cost->spread ? off : io_cost->spread;
	io_cost->spread = noise > io_cost->spread ? noise : io_cost->spread;
}

struct trace_found_cost trace_find_call(const struct trace_measured *measured, const u8 *loops,
					u32 count)
{
	struct trace_found_cost found = { .stretch = PER_MILLE };

	for (u32 i = 0; i < count; i++)
		found.call += trace_cost_of_call(measured, loops[i]);
	found.call /= count;
	for (u32 i = 0; i < count; i++)
		trace_cover_loop(measured, loops[i], &found);
	return found;
}

/* A quarter of a bare call is taken for a builtin's own time. */
static s64 inner_of_builtin(const struct trace_measured *measured, u32 loop)
{
	return measured[loop].inner - (measured[loop].plain - measured[0].plain) / 4;
}

struct trace_found_cost trace_find_builtins(const struct trace_measured *measured,
					    const struct trace_builtin_loops *of)
{
	struct trace_found_cost found = trace_find_call(measured, of->loops, of->count);
	const s64 calls = trace_calls_of_loop(measured, of->in_turn);

	for (u32 i = 0; i < of->bare; i++)
		found.inside += inner_of_builtin(measured, of->loops[i]);
	found.inside /= of->bare;
	found.inside_miss = inner_of_builtin(measured, of->in_turn) / (calls > 0 ? calls : 1);
	found.call_miss = trace_cost_of_call(measured, of->in_turn);
	return found;
}

void trace_set_burst(u32 ticks)
{
	calibrated.burst_ticks = ticks;
}

bool trace_cost_is_known(enum trace_kind kind)
{
	return calibrated.costs[kind].is_known;
}

static s32 clamp(s64 ticks)
{
	const s64 most = 1LL << 30;

	return (s32)(ticks > most ? most : ticks < -most ? -most : ticks);
}

static void set_cost(enum trace_kind kind, struct trace_cost cost)
{
	struct trace_area *area = trace_area_of_process();

	cost.is_known = 1;
	cost.burst_ticks = calibrated.burst_ticks;
	calibrated.costs[kind] = cost;
	if (area == NULL)
		return;
	cost.is_known = 0;
	area->costs[kind] = cost;
	/* Pairs with the acquire in the recorder: the figures are whole. */
	__atomic_store_n(&area->costs[kind].is_known, 1, __ATOMIC_RELEASE);
}

void trace_report_cost(enum trace_kind kind, const struct trace_found_cost *found)
{
	set_cost(kind, (struct trace_cost){
			       .inside = (s32)found->inside,
			       .outside = (s32)(found->call - found->inside),
			       .inside_miss = (s32)found->inside_miss,
			       .outside_miss = (s32)(found->call_miss - found->inside_miss),
			       .spread = (u32)found->spread,
			       .stretch_permille = found->stretch,
		       });
}

void trace_set_uncounted_cost(enum trace_uncounted what, s64 ticks, s64 spread)
{
	struct trace_area *area = trace_area_of_process();

	calibrated.uncounted[what].ticks = clamp(ticks);
	calibrated.uncounted[what].spread = (u32)clamp(spread < 0 ? 0 : spread);
	calibrated.uncounted[what].is_known = 1;
	calibrated.uncounted[what].burst_ticks = calibrated.burst_ticks;
	if (area == NULL)
		return;
	area->uncounted_costs[what].ticks = clamp(ticks);
	area->uncounted_costs[what].spread = (u32)clamp(spread < 0 ? 0 : spread);
	area->uncounted_costs[what].burst_ticks = calibrated.burst_ticks;
	/* Pairs with the acquire in the recorder. */
	__atomic_store_n(&area->uncounted_costs[what].is_known, 1, __ATOMIC_RELEASE);
}

void trace_report_costs(void)
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (calibrated.costs[kind].is_known)
			set_cost((enum trace_kind)kind, calibrated.costs[kind]);
	}
	for (int what = 0; what < TRACE_UNCOUNTED_COUNT; what++) {
		const struct trace_uncounted_cost *cost = &calibrated.uncounted[what];

		if (cost->is_known)
			trace_set_uncounted_cost((enum trace_uncounted)what, cost->ticks,
						 cost->spread);
	}
}
