/*
 * sampling_cost - sums up what sampling cost a session's programs: handlers, triggers, longer
 * context switches, and starts of processes.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/costs/start_cost.h"

struct recording_writer;
struct ring_costs;
struct switch_costs;
struct trigger_costs;

/* Switches of processes of several threads (switch_costs_of_siblings()). */
struct sibling_switches {
	uint64_t count;
	uint64_t missed_ns; /* CPU time that their events missed */
};

/* Which events of ours a thread has at a switch. */
enum switch_events {
	SWITCH_SAMPLED_IN_TREE, /* a sampler, and the whole tree's events */
	SWITCH_IN_TREE,         /* the tree's events; timers sample it */
	SWITCH_SAMPLED,         /* a sampler; the tree's events are closed */
	SWITCH_BARE,
	SWITCH_OF_BIRTH, /* as the first; of a parent that waits for its child */
	SWITCH_EVENTS_COUNT,
};

struct sampling_cost {
	uint64_t handler_ticks, handler_samples, handler_timed, early_traps;
	uint64_t handler_slow, handler_slow_ns;
	uint64_t displaced_ticks; /* caches: sampling_cost_displaced_ticks() */
	uint64_t timer_samples;   /* of handler_samples, those that a timer triggered */
	uint64_t start_ns;        /* CPU time of agents' starts */
	uint64_t switches[SWITCH_EVENTS_COUNT];
	uint64_t forks, execs; /* processes that only forked, and programs, with an agent */
	struct sibling_switches siblings;
};

/*
 * Adds an image's figures, at its end.  timer_samples: of its handlers, those that a timer
 * triggered.
 */
void sampling_cost_add(struct sampling_cost *cost, const struct ring_costs *costs,
		       uint64_t timer_samples);

/*
 * How long an image's handlers took that were not slow, in ticks: the agent timed some of them, and
 * the rest took as long.
 */
double sampling_cost_handler_ticks(const struct ring_costs *costs);

/*
 * How long the program takes to fetch again what handlers displaced from the caches, in ticks: half
 * of what they took to fetch, which the repetition of some walks shows.
 */
uint64_t sampling_cost_displaced_ticks(const struct ring_costs *costs);

/* Adds switches of threads with these events. */
void sampling_cost_add_switches(struct sampling_cost *cost, enum switch_events events,
				uint64_t switches);

/* The same, of processes of several threads. */
void sampling_cost_add_siblings(struct sampling_cost *cost,
				const struct sibling_switches *more);

/* Adds the start of a process image with an agent. */
void sampling_cost_add_start(struct sampling_cost *cost, bool is_exec);

struct sampling_cost_terms {
	uint64_t wall_ns,
		ticks; /* of the session: how long a tick of the machine's counter is */
	const struct switch_costs *switch_costs; /* NULL: not measured, */
	uint64_t unmeasured_ns; /* and this is what a switch costs a sampled thread */
	struct start_costs start_costs;
	uint64_t period_ns;
	bool is_user_mode_only;
};

/* All of it, in ns of the programs' CPU time. */
double sampling_cost_sum(const struct sampling_cost *cost,
			 const struct sampling_cost_terms *terms,
			 const struct trigger_costs *triggers);

/* Measures what triggers cost, and writes all to the recording. */
void sampling_cost_note(const struct sampling_cost *cost,
			const struct sampling_cost_terms *terms,
			struct recording_writer *writer);
