/*
 * start_cost - measures how much longer the start and end of a process take with the agent and
 * our perf events, including its parent's context switches with a sampling event.
 *
 * An agent measures its own handshake (ring_costs.start_ns), which is not included here.  This
 * is the remaining cost: the kernel copies the events to each process and sums them up at its
 * end, ld.so maps the agent, pages that the agent writes are copied, and the kernel frees all
 * of it again.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct start_costs {
	uint64_t fork_ns; /* of a process that executes nothing */
	uint64_t exec_ns; /* of one that executes a program, including its fork */
};

struct start_costs_terms {
	const char *agent_path; /* as LD_PRELOAD can hold it */
	uint64_t period_ns;     /* of a sampling event on their parents; 0: there is none */
	bool is_user_mode_only; /* whether that event counts user mode only */
	bool has_events;
	uint64_t forks, execs; /* their numbers in the recording, */
	uint64_t cpu_ns;       /* and the CPU time of all processes */
};

/*
 * Measures the CPU time of /bin/sh with a script of programs (or an empty one), and with one of
 * subshells, each without and with the agent and events.  That takes 5 ms of CPU time, and 13
 * with subshells; twice as much where seconds were recorded.  A figure is 0 if it cannot be
 * measured, or if the recording has so few that the report's overhead would hardly change.
 */
struct start_costs start_costs_measure(const struct start_costs_terms *terms);
