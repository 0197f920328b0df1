/* listed - selects the source lines to show: those with time, and their context. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function;
struct lines_part;
struct source;

/* A row of a listing, in order of lines. */
struct listed_row {
	uint32_t line;                /* 0: a gap of skipped lines */
	uint32_t skipped;             /* number of lines in the gap */
	const struct line_cost *cost; /* NULL: no time */
};

struct listed {
	struct listed_row *rows;
	size_t count, capacity;
	size_t hidden; /* lines with time that are not heavy enough */
};

/* Zero means no limit. */
struct listed_limits {
	uint64_t least_ns; /* of the total; lighter lines are shown only as context */
	size_t max_lines;  /* the heaviest ones */
};

/* source may be NULL: then only lines with time are listed. Release with listed_done(). */
void listed_make(const struct lines_part *part, const struct function *function,
		 const struct source *source, struct listed_limits limits,
		 struct listed *out_listed);
void listed_done(struct listed *listed);
