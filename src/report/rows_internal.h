/*
 * rows_internal - what rows.c, which writes the table of a report, rows_layouts.c, which has its
 * columns, and rows_process.c, which has those of threads, processes and programs, share.
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

/* What every row needs to be written. */
struct context {
	const struct profile *profile;
	const struct time_unit *unit;
	uint64_t ns; /* what percentages are of */
	const struct group *rows;
	const unsigned int *components;   /* of the rows' paths, by row */
	const struct states_table *table; /* of rows that have states */
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

/* Of GROUP_BY_THREAD and what follows it. */
const struct layout *rows_process_layout(enum group_by by, bool is_trace);
/* Of any grouping, as the options have it. */
const struct layout *rows_layout(const struct profile *profile,
				 const struct report_options *options);
