#include "collect/sampling_cost.h"

#include "collect/ring_view.h"
#include "collect/switch_cost.h"
#include "collect/session_facts.h"
#include "collect/trigger_cost.h"
#include "record/keys.h"
#include "record/writer.h"

#define MAX_COST_NS 1e18

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void sampling_cost_add(struct sampling_cost *cost, const struct ring_costs *costs)
{
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

	if (costs == NULL)
		return (double)terms->unmeasured_ns *
		       ((double)switches[SWITCH_SAMPLED_IN_TREE] +
			(double)switches[SWITCH_SAMPLED]);
	const uint64_t sampler_ns =
		costs->all_ns > costs->tree_ns ? costs->all_ns - costs->tree_ns : 0;

	return (double)switches[SWITCH_SAMPLED_IN_TREE] * (double)costs->all_ns +
	       (double)switches[SWITCH_IN_TREE] * (double)costs->tree_ns +
	       (double)switches[SWITCH_SAMPLED] * (double)sampler_ns;
}

static double ns_per_tick(const struct sampling_cost_terms *terms)
{
	return terms->ticks == 0 ? 0 : (double)terms->wall_ns / (double)terms->ticks;
}

/* What makes no sense was written by a target. */
static int64_t to_ns(double ns)
{
	return ns < MAX_COST_NS ? (int64_t)ns : 0;
}

/* The handlers that were not timed took as long as those that were. */
static uint64_t handler_ns(const struct sampling_cost *cost,
			   const struct sampling_cost_terms *terms)
{
	const double ticks_per_sample =
		cost->handler_timed == 0
			? 0
			: (double)cost->handler_ticks / (double)cost->handler_timed;
	const double ns = ticks_per_sample * ns_per_tick(terms) * (double)cost->handler_samples;

	return (uint64_t)to_ns(ns);
}

void sampling_cost_note(const struct sampling_cost *cost,
			const struct sampling_cost_terms *terms,
			struct recording_writer *writer)
{
	const uint64_t in_handlers_ns = handler_ns(cost, terms);
	const uint64_t trigger_ns =
		cost->handler_samples == 0
			? 0
			: trigger_cost_measure(terms->has_sigtrap, terms->is_user_mode_only);
	const double all_ns = (double)in_handlers_ns +
			      (double)trigger_ns * (double)cost->handler_samples +
			      (double)cost->start_ns + starts_ns(cost, &terms->start_costs) +
			      switches_ns(cost, terms);

	recording_writer_set_int(writer, KEY_HANDLER_NS, (int64_t)in_handlers_ns);
	if (trigger_ns != 0)
		recording_writer_set_int(writer, KEY_TRIGGER_COST_NS, (int64_t)trigger_ns);
	if (terms->start_costs.exec_ns != 0)
		recording_writer_set_int(writer, KEY_START_COST_NS,
					 (int64_t)terms->start_costs.exec_ns);
	recording_writer_set_int(writer, KEY_SAMPLING_COST_NS, to_ns(all_ns));
	if (cost->early_traps > 0)
		session_facts_note_early_traps(writer, cost->early_traps);
}
