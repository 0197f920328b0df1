/*
 * session_switch_costs - measures what events cost at context switches, once that matters, and
 * notes which processes were changed for it.
 *
 * It is measured while the program runs (switch_cost.h), once this has so many switches that
 * their highest possible cost would be noticed.
 */
#include "collect/session/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/detail_notes.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/session/options.h"
#include "record/writer.h"

/* An upper bound on any machine: switches that do not cost too much by this do not. */
#define MOST_COST_NS 50000ULL

void session_switches_measure(struct session *session)
{
	const struct switch_costs_terms terms = {
		.period_ns = perf_choose_period(session->options->rate_hz, 0),
		.has_sideband = true,
		.is_user_mode_only = session->enter_terms.is_user_mode_only,
	};

	switch_costs_begin(&session->switches.measuring, &terms);
	session->switches.is_measuring = true;
}

uint64_t session_switches_most_cost_of(const struct session *session, const struct image *image)
{
	const struct switch_costs *costs = &session->switches.costs;

	if (!session->switches.is_measured)
		return MOST_COST_NS;
	switch (session_switch_events(session, image)) {
	case SWITCH_SAMPLED_IN_TREE:
		return costs->all_ns;
	case SWITCH_SAMPLED:
		return costs->all_ns > costs->tree_ns ? costs->all_ns - costs->tree_ns : 0;
	case SWITCH_IN_TREE:
		return costs->tree_ns;
	default:
		return 0;
	}
}

void session_switches_take_costs(struct session *session, bool must_wait)
{
	struct session_switches *switches = &session->switches;
	const struct tree *tree = &session->tree;

	if (!switches->is_measuring ||
	    !switch_costs_take(&switches->measuring, must_wait, &switches->costs))
		return;
	switches->is_measuring = false;
	switches->is_measured = true;
	for (size_t i = 0; i < tree->count; i++) {
		struct switching *switching = &tree->images[i]->trigger.switching;

		if (switching->dear_windows > 0)
			switching_price(
				switching, MOST_COST_NS,
				session_switches_most_cost_of(session, tree->images[i]));
	}
}

uint64_t session_switches_cost_of(const struct session *session, const struct image *image)
{
	return session->switches.is_measured ? session_switches_most_cost_of(session, image)
					     : 0;
}

const struct switch_costs *session_switches_costs(struct session *session, uint64_t cpu_ns)
{
	const struct sampling_cost *cost = &session->cost;
	uint64_t switches = cost->switches[SWITCH_SAMPLED_IN_TREE];

	switches += cost->switches[SWITCH_IN_TREE] + cost->switches[SWITCH_SAMPLED] +
		    cost->siblings.count;
	if (!session->switches.is_measured && !session->switches.is_measuring &&
	    session->ability.can_count &&
	    switching_is_worth_measuring(switches, cpu_ns, MOST_COST_NS))
		session_switches_measure(session);
	session_switches_take_costs(session, true);
	return session->switches.is_measured ? &session->switches.costs : NULL;
}

static void note_group(struct session *session, const struct switches_group *group)
{
	struct text note = { 0 };

	text_add_printable(&note, group->name, strnlen(group->name, sizeof group->name));
	text_addf(&note, " (pid %d", (int)group->pid);
	if (group->others > 0)
		text_addf(&note, " and %" PRIu32 " more", group->others);
	text_addf(&note,
		  ") switched %" PRIu64 " times in a second of CPU time, of which events took "
		  "%.0f %%: " NOTE_BY_TIMERS " %.1f s, at the kernel's tick (--trigger "
		  "sigtrap keeps events)",
		  group->before.per_second, group->before.permille / 10.0,
		  (double)(group->time_ns - session->start_ns) / 1e9);
	recording_writer_note(session->writer, text_string(&note));
	text_done(&note);
}

void session_switches_note(struct session *session)
{
	const struct session_switches *switches = &session->switches;

	for (uint32_t i = 0; i < switches->group_count; i++)
		note_group(session, &switches->groups[i]);
	if (switches->is_tree_closed)
		recording_writer_note(session->writer, "from there on " NOTE_NO_TREE_EVENT
						       ": CPU time of processes without "
						       "an agent, and after a process's last "
						       "instruction, is known from wait(2) "
						       "alone");
}
