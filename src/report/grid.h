/*
 * grid - rows of cells under titles, aligned.
 *
 * In a given width, whole columns are left out in their order until the rest fits with names of a
 * fair length; then cells of the columns that allow it are cut until a row fits.  Without a width
 * nothing is cut: a cell that is longer than most moves the rest of its own row only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/style.h"

enum column_flag {
	COLUMN_LEFT = 0,
	COLUMN_RIGHT = 1,
	COLUMN_TEXT = 2,   /* cut at its end, and not within */
	COLUMN_NAME = 32,  /* of a function: short_name.h */
	COLUMN_LABEL = 64, /* with names that are short already: cut in its middle */
	/* Left out where there is no room for it, the first first. */
	COLUMN_FIRST_OUT = 4,
	COLUMN_SECOND_OUT = 8,
	COLUMN_THIRD_OUT = 16,
	COLUMN_SOURCE = 256,   /* lines of it: fair are some more, for they are indented */
	COLUMN_INTERVAL = 128, /* of a share: there from 80 columns on only */
};

struct grid_column {
	const char *title;
	unsigned int flags; /* of enum column_flag */
	unsigned int least; /* it may be cut down to this many columns; 0: never */
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
/* The next cell; a row is whole after column_count of them. */
void grid_addf(struct grid *grid, enum tint tint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with a foreign name, made safe to print; "-" for NULL and "". */
void grid_add_name(struct grid *grid, enum tint tint, const char *name);
/* 41.2, or blank when it is unknown (negative). */
void grid_add_percent(struct grid *grid, double percent);
struct interval;
/* The same of a part of a whole; dim where its bounds lie farther apart than it is large. */
void grid_add_share(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
		    const struct interval *interval);
/* How far the farther end of the confidence interval lies off, "±1.2"; its upper or lower end, "≤9.7"
 * or "≥87.2", where that is farther than 0 or all; "once" and "twice" for a row of one and two phases;
 * blank where the share is exact, or 0. */
void grid_add_half_width(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
			 const struct interval *interval);
struct time_unit;
void grid_add_time(struct grid *grid, const struct time_unit *unit, uint64_t ns);
void grid_add_count(struct grid *grid, uint64_t count);
/* Titles and rows, each ended by a newline. */
void grid_write(const struct grid *grid, const struct style *style, struct text *out);
void grid_done(struct grid *grid);
