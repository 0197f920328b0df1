#include "collect/processes/call_costs.h"

#include <stdbool.h>

#include "record/writer.h"

/* A burst outside of this range did not measure the processor's speed. */
#define MOST_SLOWDOWN 2.5
/* Calls and bursts are not slowed down equally: this part of the correction is uncertain. */
#define SLOWDOWN_UNCERTAINTY 0.4

_Static_assert(TRACE_KIND_COUNT <= RECORDING_UNCOUNTED, "kinds of callees, and then of events");

/* A reader treats larger figures as damage (reader_calls.c). */
#define MOST_PS       1e12
#define MOST_PERMILLE (1000 * 1000)

static uint32_t load(const u32 *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED);
}

static int64_t load_signed(const s32 *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED);
}

static double magnitude(double value)
{
	return value < 0 ? -value : value;
}

/* The processor's speed while the program ran: the ticks that count bursts took. */
struct bursts {
	uint64_t ticks, count;
};

/* How many times as long as at calibration a call took; 0: unknown. */
static double slowdown_of(const struct bursts *bursts, uint32_t calibrated)
{
	if (bursts->count == 0 || calibrated == 0)
		return 0;
	const double is = (double)bursts->ticks / (double)bursts->count / (double)calibrated;

	return is > MOST_SLOWDOWN       ? MOST_SLOWDOWN
	       : is < 1 / MOST_SLOWDOWN ? 1 / MOST_SLOWDOWN
					: is;
}

/* Whether these are possible costs of a call. */
static bool is_cost(const double *ps, size_t count, int64_t stretch_permille)
{
	for (size_t i = 0; i < count; i++) {
		if (!(magnitude(ps[i]) <= MOST_PS))
			return false;
	}
	return stretch_permille >= 1 && stretch_permille <= MOST_PERMILLE;
}

/*
 * Converts a calibrated cost, in ticks / TRACE_COST_UNIT, to the recording's units, and writes
 * it.  False if it is impossible.
 */
static bool write_cost(struct call_costs *costs, double slowdown, double ns_per_tick,
		       struct recording_cost cost, struct recording_writer *writer)
{
	const double times = slowdown > 0 ? slowdown : 1;
	const double off = magnitude(1 - 1 / times) * SLOWDOWN_UNCERTAINTY;
	const double unit_ps = ns_per_tick * 1000 / TRACE_COST_UNIT * times;
	const double call = magnitude((double)(cost.inside_ps + cost.outside_ps));
	const double ps[] = { (double)cost.inside_ps * unit_ps,
			      (double)cost.outside_ps * unit_ps,
			      ((double)cost.spread_ps + call * off) * unit_ps };
	uint32_t *row = &costs->rows[cost.kind];

	if (!is_cost(ps, sizeof ps / sizeof *ps, cost.stretch_permille))
		return false;
	cost.id = *row;
	cost.pace_permille =
		slowdown > 0 ? (int64_t)(slowdown * 1000 + 0.5) : RECORDING_UNKNOWN;
	cost.inside_ps = cost.inside_miss_ps = (int64_t)ps[0];
	cost.outside_ps = cost.outside_miss_ps = (int64_t)ps[1];
	cost.spread_ps = (int64_t)ps[2];
	if (*row == 0)
		recording_writer_add_cost(writer, &cost, row);
	else
		recording_writer_update_cost(writer, &cost);
	return true;
}

static bool is_due(const struct call_costs *costs, uint32_t kind, bool is_better,
		   const u32 *is_known)
{
	/* Pairs with the release in the agent: the figures are complete. */
	return (costs->rows[kind] == 0 || is_better) &&
	       __atomic_load_n(is_known, __ATOMIC_ACQUIRE) == 1;
}

/* The recording's number for one of an area's costs. */
static uint32_t row_kind(uint32_t cost)
{
	return cost < TRACE_KIND_COUNT ? cost : RECORDING_UNCOUNTED + cost - TRACE_KIND_COUNT;
}

unsigned int call_costs_write(struct call_costs *costs, const struct trace_area *area,
			      double ns_per_tick, uint32_t process_row,
			      struct recording_writer *writer)
{
	const struct bursts bursts = {
		.ticks = __atomic_load_n(&area->burst_ticks, __ATOMIC_RELAXED),
		.count = __atomic_load_n(&area->burst_count, __ATOMIC_RELAXED)
	};
	unsigned int refused = 0;
	const bool is_better = bursts.count != costs->burst_count;

	for (uint32_t i = 0; i < TRACE_COSTS; i++) {
		const struct trace_cost *cost = &area->costs[i];
		const uint32_t kind = row_kind(i);

		if (is_due(costs, kind, is_better, &cost->is_known))
			refused += !write_cost(
				costs, slowdown_of(&bursts, load(&cost->burst_ticks)),
				ns_per_tick,
				(struct recording_cost){
					.process = process_row,
					.kind = kind,
					.inside_ps = load_signed(&cost->inside),
					.outside_ps = load_signed(&cost->outside),
					.spread_ps = load(&cost->spread),
					.stretch_permille = load(&cost->stretch_permille),
				},
				writer);
	}
	costs->burst_count = bursts.count;
	return refused;
}
