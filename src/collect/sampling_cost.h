/*
 * sampling_cost - what sampling cost a session's programs: handlers, triggers, and what each
 * switch between threads takes longer, and the start of processes.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/start_cost.h"

struct recording_writer;
struct ring_costs;
struct switch_costs;

/* Which events of ours a thread has at a switch. */
enum switch_events {
	SWITCH_SAMPLED_IN_TREE, /* a sampler, and what the whole tree has */
	SWITCH_IN_TREE,         /* timers trigger */
	SWITCH_SAMPLED,         /* the tree's are closed */
	SWITCH_BARE,
	SWITCH_EVENTS_COUNT,
};

struct sampling_cost {
	uint64_t handler_ticks, handler_samples, handler_timed, early_traps;
	uint64_t start_ns; /* CPU time of agents' starts */
	uint64_t switches[SWITCH_EVENTS_COUNT];
	uint64_t forks, execs; /* processes that only forked, and programs, with an agent */
};

/* The image's share, at its end. */
void sampling_cost_add(struct sampling_cost *cost, const struct ring_costs *costs);

/* So many switches more. */
void sampling_cost_add_switches(struct sampling_cost *cost, enum switch_events events,
				uint64_t switches);

/* One process image more that an agent was in. */
void sampling_cost_add_start(struct sampling_cost *cost, bool is_exec);

struct sampling_cost_terms {
	uint64_t wall_ns,
		ticks; /* of the session: how long a tick of the machine's counter is */
	const struct switch_costs *switch_costs; /* NULL: not measured, */
	uint64_t unmeasured_ns; /* and this is what a switch costs a sampled thread */
	struct start_costs start_costs;
	bool has_sigtrap, is_user_mode_only;
};

void sampling_cost_note(const struct sampling_cost *cost,
			const struct sampling_cost_terms *terms,
			struct recording_writer *writer);
