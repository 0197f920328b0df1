/*
 * rows_states - the table of regions, threads, processes and programs on the wall clock: how
 * long each lived, its time in each state, and where it waited most.
 */
#pragma once
#include <stddef.h>

#include "profile/profile.h"
#include "report/grid.h"
#include "report/rows_internal.h"

struct groups;
struct packages;
struct report_options;

enum { STATES_COLUMNS_MAX = THREAD_STATE_COUNT + 7 };

struct states_table {
	struct grid_column columns[STATES_COLUMNS_MAX];
	enum thread_state states[THREAD_STATE_COUNT]; /* states that any row has time in */
	size_t state_count;
	enum group_by by;
	bool has_processes; /* there are several */
	struct packages *packages;
	struct layout layout;
};

/* Whether rows of this grouping have states as columns. */
bool states_table_is_of(enum group_by by, const struct groups *groups);
/*
 * Prepares the table for context->table; false if rows of this grouping have no states. Release
 * with states_table_done(), whatever the result.
 */
bool states_table_init(struct states_table *table, const struct profile *profile,
		       const struct report_options *options, const struct groups *groups);
void states_table_done(struct states_table *table);
