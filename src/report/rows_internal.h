/*
 * rows_internal - shared by rows.c, which writes the table of a report, rows_layouts.c, which
 * defines its columns, and rows_process.c, which defines those of threads, processes and
 * programs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/group.h"

struct grid;
struct grid_column;
struct profile;
struct report_options;
struct states_table;
struct time_unit;

/* Context for writing any row. */
struct context {
	const struct profile *profile;
	const struct time_unit *unit;
	uint64_t ns; /* that percentages refer to */
	const struct group *rows;
	const unsigned int *components;   /* by row: how many components of its path to show */
	const struct states_table *table; /* for rows that have states */
};

/* How the rows of one grouping are written. */
struct layout {
	const struct grid_column *columns;
	size_t column_count;
	void (*add_row)(struct grid *grid, const struct context *context,
			const struct group *row);
	const char *noun;
	const char *plural;
};

#define COLUMNS(list) list, sizeof list / sizeof *list

/* For GROUP_BY_THREAD and the groupings after it. */
const struct layout *rows_process_layout(enum group_by by, bool is_trace);
/* For any grouping, according to the options. */
const struct layout *rows_layout(const struct profile *profile,
				 const struct report_options *options);
