/*
 * groups - rows of a report, of whatever they are: group.h makes them.
 */
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
	GROUP_BY_STATE, /* of the wall clock */
	GROUP_BY_THREAD,
	GROUP_BY_PROCESS,
	GROUP_BY_PROGRAM,
	GROUP_BY_COUNT,
};

/* By program: the processes of one name, which may be of several images. */
struct group_program {
	size_t processes;
	size_t entered;  /* of those, that the agent was in */
	size_t brief;    /* that were too short for a sample: entered, or left alone for that */
	uint64_t cpu_ns; /* that the kernel charged to them; 0: unknown */
	const char *unentered_reason; /* the first other; NULL: none was given */
	bool has_more_reasons;        /* and others for other processes */
};

/* What a row is of: only the ids of its grouping are set. */
struct group {
	struct function_id function; /* by function, line and region (none: no region) */
	struct module_id module; /* by function, line and module; none for frames without one */
	struct thread_id thread; /* none for time on no known thread */
	struct process_id process;    /* by thread, too */
	struct group_program program; /* by program */
	const char *origin;           /* by package: origin_word(), "import" */
	const char *name; /* of the function, path, thread, process; "[no module]", … */
	const char *file; /* by function: of the definition; by line: of the line; or NULL */
	uint32_t line;    /* 0: unknown */
	struct cost cost;
	/* Of the wall clock, but by package and state; else NULL. */
	const struct group_waits *waits;
	/* By thread (merged_threads.h): so many threads' rows, and of these so many that are idle. */
	size_t alike, idle;
};

struct filter;
struct groups {
	struct group *rows;
	size_t count;
	uint64_t ns, samples; /* of the whole: the sum of every row's self */
	bool is_saturated;
	struct group_waits *waits; /* by row, before rows are sorted; NULL: there are none */
};

struct interval_terms;
/* Of every row, as the terms say; nothing of a trace. */
void groups_find_intervals(struct groups *groups, const struct interval_terms *terms);
/* The same of rows of threads: row_of_thread by id, of 0, too. */
void groups_find_thread_intervals(struct groups *groups, const struct profile *profile,
				  const struct filter *filter, const uint32_t *row_of_thread);
/* Adds a weight of a thread's to the row of what the thread is of. */
void group_add_weight(struct group *row, const struct weight *weight,
		      const struct call_times *times, bool *is_saturated);
