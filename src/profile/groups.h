/* groups - rows of a report, by any grouping: group.h makes them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

enum group_by {
	GROUP_BY_FUNCTION,
	GROUP_BY_LINE,
	GROUP_BY_MODULE,
	GROUP_BY_PACKAGE,
	GROUP_BY_REGION,
	GROUP_BY_STATE, /* on the wall clock */
	GROUP_BY_THREAD,
	GROUP_BY_PROCESS,
	GROUP_BY_PROGRAM,
	GROUP_BY_COUNT,
};

/* By program: the processes of one name, which may run several executables. */
struct group_program {
	size_t processes;
	size_t entered;  /* of those, with the agent */
	size_t brief;    /* too short for a sample, with the agent or skipped for that reason */
	uint64_t cpu_ns; /* charged by the kernel; 0: unknown */
	/* The first one other than shortness; NULL: none was given. */
	const char *unentered_reason;
	bool has_more_reasons; /* other processes had other reasons */
};

/* The subject of a row: only the ids of its grouping are set. */
struct group {
	struct function_id function;  /* by function, line and region (none: no region) */
	struct module_id module;      /* by function, line and module; none: no module */
	struct thread_id thread;      /* none: time of no known thread */
	struct process_id process;    /* by thread, too */
	struct group_program program; /* by program */
	const char *origin;           /* by package: origin_word(), "import" */
	const char *name; /* of the function, path, thread, process; "[no module]", … */
	const char *file; /* by function: of the definition; by line: of the line; or NULL */
	uint32_t line;    /* 0: unknown */
	struct cost cost;
	/* On the wall clock, except by package and state; else NULL. */
	const struct group_waits *waits;
	/*
	 * By thread (merged_threads.h): how many threads share this row, and how many of these
	 * are idle.
	 */
	size_t alike, idle;
};

struct filter;
struct groups {
	struct group *rows;
	size_t count;
	uint64_t ns, samples; /* of everything: the sum of every row's self */
	bool is_saturated;
	/* By row, as before rows were sorted; NULL: there are none. */
	struct group_waits *waits;
};

struct interval_terms;
/* Sets the intervals of every row by these terms; does nothing for a trace. */
void groups_find_intervals(struct groups *groups, const struct interval_terms *terms);
/* Likewise for rows of threads: row_of_thread is by id, including 0. */
void groups_find_thread_intervals(struct groups *groups, const struct profile *profile,
				  const struct filter *filter, const uint32_t *row_of_thread);
/* Adds a weight of a thread to the row of its thread, process or program. */
void group_add_weight(struct group *row, const struct weight *weight,
		      const struct call_times *times, bool *is_saturated);
