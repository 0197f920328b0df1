/*
 * grid - prints a table: aligned rows of cells under titles.
 *
 * To fit a width, optional columns are left out in their order until names of a fair length
 * fit; then cells in cuttable columns are cut. Without a width nothing is cut: an unusually
 * long cell shifts only the rest of its own row.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/style.h"

enum column_flag {
	COLUMN_LEFT = 0,
	COLUMN_RIGHT = 1,
	COLUMN_TEXT = 2,   /* cut at its end, not in the middle */
	COLUMN_NAME = 32,  /* a function's name: short_name.h */
	COLUMN_LABEL = 64, /* of shortened names: cut in its middle */
	/* Left out if space is short, FIRST_OUT first. */
	COLUMN_FIRST_OUT = 4,
	COLUMN_SECOND_OUT = 8,
	COLUMN_THIRD_OUT = 16,
	COLUMN_SOURCE = 256,   /* lines of source: indented, so a fair length is longer */
	COLUMN_INTERVAL = 128, /* of a share: shown from 80 columns on */
};

struct grid_column {
	const char *title;
	unsigned int flags; /* of enum column_flag */
	unsigned int least; /* may be cut to this many columns; 0: is not cut */
};

struct grid_cell {
	char *string;
	size_t columns;
	enum tint tint;
};

struct grid {
	const struct grid_column *columns;
	size_t column_count;
	struct grid_cell *cells;
	size_t count, capacity;
};

/* columns is borrowed.  Release with grid_done(). */
void grid_init(struct grid *grid, const struct grid_column *columns, size_t column_count);
/* Adds the next cell; a row consists of column_count cells. */
void grid_addf(struct grid *grid, enum tint tint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Likewise for a name from outside, made safe to print; "-" for NULL and "". */
void grid_add_name(struct grid *grid, enum tint tint, const char *name);
/* 41.2; blank if unknown (negative). */
void grid_add_percent(struct grid *grid, double percent);
struct interval;
/* Likewise for part of a whole; dim if its bounds are farther apart than it is large. */
void grid_add_share(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
		    const struct interval *interval);
/*
 * The distance to the farther end of the confidence interval, "±1.2"; one bound, "≤9.7" or
 * "≥87.2", if ± would reach below 0 or above all; "once" or "twice" for a row of one or two
 * phases; blank if the share is exact, or 0.
 */
void grid_add_half_width(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
			 const struct interval *interval);
struct time_unit;
void grid_add_time(struct grid *grid, const struct time_unit *unit, uint64_t ns);
void grid_add_count(struct grid *grid, uint64_t count);
/* Writes titles and rows, each with a newline. */
void grid_write(const struct grid *grid, const struct style *style, struct text *out);
void grid_done(struct grid *grid);
