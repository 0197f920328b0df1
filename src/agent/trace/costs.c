/* costs - computes what a call costs from the calibration loops, and stores it for the recorder. */
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"

#define PER_MILLE 1000

/* Kept here, too: a child of fork has its parent's hooks, but an area of its own. */
static struct {
	struct trace_cost costs[TRACE_COSTS];
	u32 burst_ticks; /* the processor's speed at the last calibration (processor_speed.h) */
} calibrated;

static s64 magnitude(s64 value)
{
	return value < 0 ? -value : value;
}

/* Cuts a cost to what the recorder's 32-bit field holds. */
static s32 bounded(s64 ticks)
{
	const s64 most = 1LL << 30;

	return (s32)(ticks > most ? most : ticks < -most ? -most : ticks);
}

/* The added time per call of a loop, less that of the empty loop. */
static s64 call_of(const struct trace_measured *measured, u32 loop)
{
	return (measured[loop].added - measured[0].added) / measured[loop].calls;
}

/* The part of it that is in the callee's self time. */
static s64 inside_of(const struct trace_calibration *calibration,
		     const struct trace_measured *measured, u32 loop)
{
	const struct trace_loop *own = &calibration->loops[loop];
	const s64 executed = (measured[own->like].plain - measured[0].plain) * own->permille;

	return (measured[loop].inner - executed / PER_MILLE) / measured[loop].calls;
}

/* The larger of this loop's distance from the mean and the noise of its rounds. */
static s64 spread_of(const struct trace_measured *measured, u32 loop, s64 mean)
{
	const s64 off = magnitude(call_of(measured, loop) - mean);
	const s64 noise = measured[loop].noise / measured[loop].calls;

	return off > noise ? off : noise;
}

bool trace_find_cost(const struct trace_calibration *calibration,
		     const struct trace_measured *measured, const struct trace_rule *rule,
		     const struct trace_cost *alike, struct trace_cost *out_cost)
{
	s64 call = 0, inside = 0, spread = 0;

	for (u32 i = 0; i < rule->count; i++) {
		if (measured[rule->loops[i]].calls < 1)
			return false;
	}
	for (u32 i = 0; i < rule->count; i++)
		call += call_of(measured, rule->loops[i]) / rule->count;
	for (u32 i = 0; i < rule->count; i++) {
		const s64 own = spread_of(measured, rule->loops[i], call);

		spread = own > spread ? own : spread;
	}
	for (u32 i = 0; i < rule->own_count; i++)
		inside += inside_of(calibration, measured, rule->loops[i]) / rule->own_count;
	if (rule->own_count == 0 && alike != NULL && alike->inside + alike->outside > 0)
		inside = call * alike->inside / (alike->inside + alike->outside);
	*out_cost = (struct trace_cost){ .inside = bounded(inside),
					 .outside = bounded(call - inside),
					 .spread = (u32)bounded(spread),
					 .stretch_permille = PER_MILLE };
	return true;
}

struct trace_cost trace_uncounted_cost(s64 ticks, s64 spread)
{
	return (struct trace_cost){ .inside = bounded(ticks),
				    .spread = (u32)bounded(spread < 0 ? 0 : spread),
				    .stretch_permille = PER_MILLE };
}

void trace_set_burst(u32 ticks)
{
	calibrated.burst_ticks = ticks;
}

bool trace_cost_is_known(enum trace_kind kind)
{
	return calibrated.costs[kind].is_known;
}

static void publish(u32 number)
{
	struct trace_area *area = trace_area_of_process();

	struct trace_cost cost = calibrated.costs[number];

	if (area == NULL || !cost.is_known)
		return;
	cost.is_known = 0;
	area->costs[number] = cost;
	/* Pairs with the acquire in the recorder: the figures are whole. */
	__atomic_store_n(&area->costs[number].is_known, 1, __ATOMIC_RELEASE);
}

void trace_report_cost(u32 number, const struct trace_cost *cost)
{
	calibrated.costs[number] = *cost;
	calibrated.costs[number].burst_ticks = calibrated.burst_ticks;
	calibrated.costs[number].is_known = 1;
	publish(number);
}

void trace_report_costs(void)
{
	for (u32 number = 0; number < TRACE_COSTS; number++)
		publish(number);
}
