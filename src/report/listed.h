/*
 * listed - which lines of a source are worth a look: those with time, and what is around them.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function;
struct lines_part;
struct source;

/* A row of a listing, in order of lines. */
struct listed_row {
	uint32_t line;                /* 0: lines that are left out */
	uint32_t skipped;             /* how many */
	const struct line_cost *cost; /* NULL: no time */
};

struct listed {
	struct listed_row *rows;
	size_t count, capacity;
	size_t hidden; /* lines that have time, and are not heavy enough */
};

/* Zero means no limit. */
struct listed_limits {
	uint64_t least_ns; /* of the total; lighter lines are context at most */
	size_t max_lines;  /* the heaviest */
};

/* source is NULL when there is none: then it is bare lines.  Release with listed_done(). */
void listed_make(const struct lines_part *part, const struct function *function,
		 const struct source *source, struct listed_limits limits,
		 struct listed *out_listed);
void listed_done(struct listed *listed);
