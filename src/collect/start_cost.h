/*
 * start_cost - what the start and end of a process cost more with the agent and events of ours.
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
	bool has_events;
	uint64_t forks, execs; /* that there were, */
	uint64_t cpu_ns;       /* and what all burned */
};

/*
 * Measures them by /bin/sh with an empty script, and with one of subshells, without and with the
 * agent and events, in children: CPU time, some 5 ms of it, and 15 for subshells.  0: it cannot be
 * measured, or there were so few that the report's figure would hardly change.
 */
struct start_costs start_costs_measure(const struct start_costs_terms *terms);
