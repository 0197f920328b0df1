#include "collect/traced_costs.h"

#include "record/writer.h"

/* Beyond that a burst was not what it is taken for. */
#define MOST_PACE 2.5
/*
 * Calls and bursts are not slowed down by just as much: of what calibration was off by, so much is
 * doubted.
 */
#define PACE_DOUBT 0.4

_Static_assert(TRACE_KIND_COUNT <= RECORDING_QUIET, "kinds of callees, and then of events");

/* How many times as long as when it was calibrated a call took; 0: not known. */
static double pace_of(const struct trace_area *area, uint32_t calibrated)
{
	const uint64_t count = __atomic_load_n(&area->pace_count, __ATOMIC_RELAXED);
	const uint64_t ticks = __atomic_load_n(&area->pace_ticks, __ATOMIC_RELAXED);

	if (count == 0 || calibrated == 0)
		return 0;
	const double pace = (double)ticks / (double)count / (double)calibrated;

	return pace > MOST_PACE ? MOST_PACE : pace < 1 / MOST_PACE ? 1 / MOST_PACE : pace;
}

static double magnitude(double value)
{
	return value < 0 ? -value : value;
}

/* As it was calibrated, in ticks / TRACE_COST_UNIT, to what is written. */
static void write_cost(struct traced_costs *costs, const struct trace_area *area,
		       double ns_per_tick, uint32_t pace, struct recording_cost cost,
		       struct recording_writer *writer)
{
	const double pace_is = pace_of(area, pace);
	const double times = pace_is > 0 ? pace_is : 1;
	const double off = magnitude(1 - 1 / times) * PACE_DOUBT;
	const double ps = ns_per_tick * 1000 / TRACE_COST_UNIT * times;
	const double call = magnitude((double)(cost.inside_ps + cost.outside_ps));
	uint32_t *row = &costs->rows[cost.kind];

	cost.id = *row;
	cost.pace_permille = pace_is > 0 ? (int64_t)(pace_is * 1000 + 0.5) : RECORDING_UNKNOWN;
	cost.spread_ps = (int64_t)(((double)cost.spread_ps + call * off) * ps);
	cost.inside_ps = (int64_t)((double)cost.inside_ps * ps);
	cost.outside_ps = (int64_t)((double)cost.outside_ps * ps);
	cost.inside_miss_ps = (int64_t)((double)cost.inside_miss_ps * ps);
	cost.outside_miss_ps = (int64_t)((double)cost.outside_miss_ps * ps);
	if (*row == 0)
		recording_writer_add_cost(writer, &cost, row);
	else
		recording_writer_update_cost(writer, &cost);
}

void traced_costs_write(struct traced_costs *costs, const struct trace_area *area,
			double ns_per_tick, uint32_t process, struct recording_writer *writer)
{
	const uint64_t count = __atomic_load_n(&area->pace_count, __ATOMIC_RELAXED);
	const bool is_better = count != costs->pace_count;

	for (uint32_t kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct trace_cost *cost = &area->costs[kind];

		/* Pairs with the release in the agent: the figures are whole. */
		if ((costs->rows[kind] == 0 || is_better) &&
		    __atomic_load_n(&cost->is_known, __ATOMIC_ACQUIRE) == 1)
			write_cost(costs, area, ns_per_tick, cost->pace,
				   (struct recording_cost){
					   .process = process,
					   .kind = kind,
					   .inside_ps = cost->inside,
					   .outside_ps = cost->outside,
					   .inside_miss_ps = cost->inside_miss,
					   .outside_miss_ps = cost->outside_miss,
					   .spread_ps = cost->spread,
					   .stretch_permille = cost->stretch_permille,
				   },
				   writer);
	}
	for (uint32_t quiet = 0; quiet < TRACE_QUIET_COUNT; quiet++) {
		const struct trace_quiet_cost *cost = &area->quiet_costs[quiet];
		const uint32_t kind = RECORDING_QUIET + quiet;

		if ((costs->rows[kind] == 0 || is_better) &&
		    __atomic_load_n(&cost->is_known, __ATOMIC_ACQUIRE) == 1)
			write_cost(costs, area, ns_per_tick, cost->pace,
				   (struct recording_cost){ .process = process,
							    .kind = kind,
							    .inside_ps = cost->ticks,
							    .spread_ps = cost->spread,
							    .stretch_permille = 1000 },
				   writer);
	}
	costs->pace_count = count;
}
