/*
 * start_cost - what the start and end of a process cost more with the agent and events of ours, and
 * its parent's switches with a sampling event on that.
 *
 * What an agent does at its hello it measures itself (ring_costs.start_ns); this is the rest: the
 * kernel copies the events to each process and sums them up at its end, ld.so maps the agent,
 * pages that it writes are copied, and the kernel takes them away again.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct start_costs {
	uint64_t fork_ns; /* of a process that executes nothing */
	uint64_t exec_ns; /* of one that executes a program, its fork included */
};

struct start_costs_terms {
	const char *agent_path; /* as LD_PRELOAD can hold it */
	uint64_t period_ns;     /* of a sampling event on their parents; 0: none is */
	bool is_user_mode_only; /* as that is */
	bool has_events;
	uint64_t forks, execs; /* that there were, */
	uint64_t cpu_ns;       /* and what all burned */
};

/*
 * Measures them by /bin/sh with an empty script, and with one of subshells, without and with the
 * agent and events: CPU time, 5 ms of it, and 13 with subshells; where seconds were recorded, twice
 * as much.  0: it cannot be measured, or there were so few that the report's figure would hardly
 * change.
 */
struct start_costs start_costs_measure(const struct start_costs_terms *terms);
