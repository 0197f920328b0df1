/*
 * rows_states - the table of regions, threads, processes and programs by the wall clock: one row has
 * how long each lived, what of that in each state, and where it waited most.
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
	enum thread_state states[THREAD_STATE_COUNT]; /* that any row was in */
	size_t state_count;
	enum group_by by;
	bool has_processes; /* there are several */
	struct packages *packages;
	struct layout layout;
};

/* Whether rows of that kind have states as columns. */
bool states_table_is_of(enum group_by by, const struct groups *groups);
/*
 * Whether rows of that kind have states.  Then the table is for context->table.  Release with
 * states_table_done(), whatever it returned.
 */
bool states_table_init(struct states_table *table, const struct profile *profile,
		       const struct report_options *options, const struct groups *groups);
void states_table_done(struct states_table *table);
