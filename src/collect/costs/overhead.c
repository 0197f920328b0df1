#include "collect/costs/overhead.h"

#include <string.h>

#include "abi/handshake.h"

/* Shorter windows have too few samples, and a change of the rate has a cost, too. */
#define WINDOW_NS     UINT64_C(100000000)
#define WINDOW_CPU_NS UINT64_C(40000000)
/* The part of the budget to aim at, so that it is seldom exceeded. */
#define AIM 0.85
/*
 * A shorter period is chosen only if it fits into this part of the room: else the rate would go
 * back and forth.
 */
#define ROOM         0.9
#define RATE_MOST_HZ 10000
/*
 * Of what fits, so that a process can come back to its first rung (ROOM) with a period that is a
 * prime near the rate's (perf_choose_period()).
 */
#define FIRST 0.88
/* In so much CPU time a process makes up for what it took beyond its budget. */
#define PAYBACK_NS 1e9
/* The first rung is for handlers as quick as those of C are. */
#define QUICK_HANDLER_NS 5000
/*
 * What a handler fetches into the caches displaces as much of the program's, which costs that at
 * most as much again (decision 0050).  A budget is a limit, so all of it counts; the report has what
 * is likely (sampling_cost_displaced_ticks()).
 */
#define HANDLER_COSTS 2
/* Fewer samples give no useful cost of one. */
#define SAMPLES_LEAST 4

static double cost_ns(const struct overhead_terms *terms, double samples, double handler_ns)
{
	return samples * (double)terms->trap_ns + HANDLER_COSTS * handler_ns;
}

uint32_t overhead_first_rate(const struct overhead_terms *terms)
{
	const double hz =
		FIRST * AIM * terms->share * 1e9 / cost_ns(terms, 1, QUICK_HANDLER_NS);

	return hz < 1 ? 1 : hz > RATE_MOST_HZ ? RATE_MOST_HZ : (uint32_t)hz;
}

/* The fastest rung whose samples cost no more than the share. */
static unsigned int rung_for(double sample_ns, double share, uint64_t period_ns)
{
	unsigned int rung = 0;

	while (rung + 1 < HANDSHAKE_EVENT_RUNGS &&
	       sample_ns > share * (double)(period_ns << rung))
		rung++;
	return rung;
}

unsigned int overhead_first_rung(const struct overhead_terms *terms, uint64_t period_ns)
{
	return rung_for(cost_ns(terms, 1, (double)terms->handler_ns), AIM * terms->share,
			period_ns);
}

static double since(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/*
 * What a process took so far beyond its budget.  Its first handlers find unwind rules and fault
 * pages in, and its start alone may be one percent of its first 300 ms.
 */
static double debt_ns(const struct overhead_look *look, const struct overhead_terms *terms)
{
	const double spent = (double)look->start_ns + (double)look->switches_ns +
			     cost_ns(terms, (double)look->samples, (double)look->handler_ns);
	const double debt = spent - AIM * terms->share * (double)look->cpu_ns;

	return debt > 0 ? debt : 0;
}

bool overhead_take(struct overhead_window *window, const struct overhead_look *look,
		   const struct overhead_terms *terms, unsigned int rung,
		   unsigned int *out_rung, double *out_share)
{
	const struct overhead_look begin = window->begin;
	const double cpu_ns = since(look->cpu_ns, begin.cpu_ns);
	const double samples = since(look->samples, begin.samples);

	if (window->is_begun && (look->time_ns < begin.time_ns + WINDOW_NS ||
				 cpu_ns < WINDOW_CPU_NS || samples < SAMPLES_LEAST))
		return false;
	window->begin = *look;
	if (!window->is_begun) {
		window->is_begun = true;
		return false;
	}
	const double traps_ns =
		cost_ns(terms, samples, since(look->handler_ns, begin.handler_ns));
	const double switches = since(look->switches_ns, begin.switches_ns) / cpu_ns;
	const double share = traps_ns / cpu_ns;
	const double taken = switches + debt_ns(look, terms) / PAYBACK_NS;
	const double room = AIM * terms->share - taken;

	*out_share = share + switches;
	*out_rung = rung;
	/* The cost of samples scales with the rate; that of switches does not. */
	for (unsigned int next = 0; next < HANDSHAKE_EVENT_RUNGS; next++) {
		const double factor = (double)(1U << rung) / (double)(1U << next);
		const double most = next < rung    ? ROOM * room
				    : next == rung ? terms->share - taken
						   : room;

		*out_rung = next;
		if (share * factor <= most)
			break;
	}
	return true;
}
