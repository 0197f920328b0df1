/* enter_terms - a session's terms, by which all agents' handshakes are answered. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/agents/reach.h"
#include "collect/events/perf_events.h"

struct interpreters;
struct overhead_terms;

struct enter_terms {
	enum clock_kind clock;
	uint32_t rate_hz;
	uint32_t processors; /* that may run the program at a time */
	uint32_t all_processors;
	bool has_sigtrap;      /* else timers */
	bool has_counters;     /* perf events that only count can be opened */
	bool has_sideband;     /* which reports mappings */
	bool counts_unentered; /* processes without an agent get counters */
	bool is_user_mode_only;
	bool has_kernel_ticks; /* timers sample the system time that events do not count */
	bool is_trace;         /* calls are counted, and nothing is sampled */
	bool no_builtins;
	bool has_blocks;
	bool is_paused;
	const char *only; /* patterns (abi/only.h) of counted functions; NULL or none: all */
	bool no_children;
	pid_t command_pid;
	struct reach_paths paths;
	uint64_t switch_cost_ns; /* switch_cost.h */
	uint64_t recorder_start; /* ring_owner.h */
	/* When the session began, on both clocks: for converting a period to ticks. */
	uint64_t start_ns, start_ticks;
	/* For a trace by threads' CPU clocks: ticks in a nanosecond, times 2^32; else 0. */
	uint64_t ticks_per_ns;
	struct interpreters *interpreters;
	const struct overhead_terms *overhead; /* a budget in place of a rate; NULL: none */
};
