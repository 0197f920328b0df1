#include "collect/session/sampling_cost.h"

#include "collect/processes/ring_view.h"
#include "collect/costs/switch_cost.h"
#include "collect/session/facts.h"
#include "collect/costs/trigger_cost.h"
#include "record/keys.h"
#include "record/writer.h"

#define MAX_COST_NS 1e18
/*
 * Of the time that handlers take to fetch into the caches, what fetching the displaced lines again
 * takes: a walk's loads wait for each other, most programs' overlap.  Between all, as measured on a
 * busy machine, and nearly nothing, on a quiet one (docs/benchmarks.md).
 */
#define REFETCHED 0.5

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* The handlers that were neither timed nor slow took as long as those that were timed. */
static double ticks_of_handlers(uint64_t timed, uint64_t ticks, uint64_t samples, uint64_t slow)
{
	const uint64_t others = samples > slow ? samples - slow : 0;

	return timed == 0 ? 0 : (double)ticks / (double)timed * (double)others;
}

double sampling_cost_handler_ticks(const struct ring_costs *costs)
{
	return ticks_of_handlers(costs->handler_timed, costs->handler_ticks,
				 costs->handler_samples, costs->handler_slow);
}

uint64_t sampling_cost_displaced_ticks(const struct ring_costs *costs)
{
	const double first = (double)costs->first_walk_ticks;
	const double part = first > 0 ? 1 - (double)costs->second_walk_ticks / first : 0;

	return (uint64_t)(part * REFETCHED * sampling_cost_handler_ticks(costs));
}

void sampling_cost_add(struct sampling_cost *cost, const struct ring_costs *costs,
		       uint64_t timer_samples)
{
	add(&cost->handler_slow, costs->handler_slow);
	add(&cost->handler_slow_ns, costs->handler_slow_ns);
	add(&cost->displaced_ticks, sampling_cost_displaced_ticks(costs));
	add(&cost->timer_samples,
	    timer_samples < costs->handler_samples ? timer_samples : costs->handler_samples);
	add(&cost->handler_ticks, costs->handler_ticks);
	add(&cost->handler_timed, costs->handler_timed);
	add(&cost->start_ns, costs->start_ns);
	add(&cost->early_traps, costs->early_traps);
	add(&cost->handler_samples, costs->handler_samples);
}

void sampling_cost_add_switches(struct sampling_cost *cost, enum switch_events events,
				uint64_t switches)
{
	add(&cost->switches[events], switches);
}

void sampling_cost_add_siblings(struct sampling_cost *cost, const struct sibling_switches *more)
{
	add(&cost->siblings.count, more->count);
	add(&cost->siblings.missed_ns, more->missed_ns);
}

void sampling_cost_add_start(struct sampling_cost *cost, bool is_exec)
{
	add(is_exec ? &cost->execs : &cost->forks, 1);
}

static double starts_ns(const struct sampling_cost *cost, const struct start_costs *costs)
{
	return (double)cost->execs * (double)costs->exec_ns +
	       (double)cost->forks * (double)costs->fork_ns;
}

static double switches_ns(const struct sampling_cost *cost,
			  const struct sampling_cost_terms *terms)
{
	const struct switch_costs *costs = terms->switch_costs;
	const uint64_t *switches = cost->switches;
	/* The cost of starts includes these. */
	const uint64_t births =
		terms->start_costs.exec_ns != 0 || terms->start_costs.fork_ns != 0
			? 0
			: switches[SWITCH_OF_BIRTH];

	if (costs == NULL)
		return (double)terms->unmeasured_ns *
		       ((double)switches[SWITCH_SAMPLED_IN_TREE] +
			(double)switches[SWITCH_SAMPLED] + (double)births +
			(double)cost->siblings.count);
	const uint64_t sampler_ns =
		costs->all_ns > costs->tree_ns ? costs->all_ns - costs->tree_ns : 0;

	return (double)(switches[SWITCH_SAMPLED_IN_TREE] + births) * (double)costs->all_ns +
	       switch_costs_of_siblings(costs, cost->siblings.count, cost->siblings.missed_ns) +
	       (double)switches[SWITCH_IN_TREE] * (double)costs->tree_ns +
	       (double)switches[SWITCH_SAMPLED] * (double)sampler_ns;
}

static double ns_per_tick(const struct sampling_cost_terms *terms)
{
	return terms->ticks == 0 ? 0 : (double)terms->wall_ns / (double)terms->ticks;
}

/* An impossible figure was written by a target. */
static int64_t to_ns(double ns)
{
	return ns < MAX_COST_NS ? (int64_t)ns : 0;
}

static uint64_t handler_ns(const struct sampling_cost *cost,
			   const struct sampling_cost_terms *terms)
{
	const double ticks = ticks_of_handlers(cost->handler_timed, cost->handler_ticks,
					       cost->handler_samples, cost->handler_slow);

	return (uint64_t)to_ns(ticks * ns_per_tick(terms) + (double)cost->handler_slow_ns);
}

static uint64_t event_samples(const struct sampling_cost *cost)
{
	return cost->handler_samples - cost->timer_samples;
}

double sampling_cost_sum(const struct sampling_cost *cost,
			 const struct sampling_cost_terms *terms,
			 const struct trigger_costs *triggers)
{
	return (double)handler_ns(cost, terms) +
	       (double)cost->displaced_ticks * ns_per_tick(terms) +
	       (double)triggers->event_ns * (double)event_samples(cost) +
	       (double)triggers->timer_ns * (double)cost->timer_samples +
	       (double)cost->start_ns + starts_ns(cost, &terms->start_costs) +
	       switches_ns(cost, terms);
}

void sampling_cost_note(const struct sampling_cost *cost,
			const struct sampling_cost_terms *terms,
			struct recording_writer *writer)
{
	const struct trigger_costs triggers =
		trigger_costs_measure(&(struct trigger_costs_terms){
			.period_ns = terms->period_ns,
			.event_samples = event_samples(cost),
			.timer_samples = cost->timer_samples,
			.is_user_mode_only = terms->is_user_mode_only,
		});

	recording_writer_set_int(writer, KEY_HANDLER_NS, (int64_t)handler_ns(cost, terms));
	if (triggers.event_ns != 0)
		recording_writer_set_int(writer, KEY_TRIGGER_COST_NS,
					 (int64_t)triggers.event_ns);
	if (terms->start_costs.exec_ns != 0)
		recording_writer_set_int(writer, KEY_START_COST_NS,
					 (int64_t)terms->start_costs.exec_ns);
	recording_writer_set_int(writer, KEY_SAMPLING_COST_NS,
				 to_ns(sampling_cost_sum(cost, terms, &triggers)));
	recording_writer_set_int(writer, KEY_STARTS, (int64_t)(cost->forks + cost->execs));
	recording_writer_set_int(
		writer, KEY_STARTS_NS,
		to_ns((double)cost->start_ns + starts_ns(cost, &terms->start_costs)));
	if (cost->early_traps > 0)
		session_facts_note_early_traps(writer, cost->early_traps);
}
