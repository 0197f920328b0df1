/*
 * lines - self and total time of each line of a function.
 *
 * A line's total is the time during which it was being executed anywhere on the stack:
 * recursion counts once.  So the totals of a function's lines may add up to more than its own.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct filter;

struct line_cost {
	uint32_t line; /* 0: not known */
	struct cost cost;
};

/* What one function executed of one file.  Macros and included files make a second part. */
struct lines_part {
	struct function_id function;
	const char *file;       /* NULL: not known */
	struct cost cost;       /* of the function */
	struct line_cost *rows; /* by line; within the rows of struct lines */
	size_t count;
};

struct lines {
	struct lines_part *parts; /* by total of the function, the largest first */
	size_t part_count;
	struct line_cost *rows;
	size_t count;
	struct cost cost; /* of all functions meant together */
};

/*
 * Of the functions meant (by function id, as find_functions() makes it).  Lines without any
 * time or samples are left out.  filter may be NULL.  Release with lines_done().
 */
void lines_make(const struct profile *profile, const struct filter *filter,
		const bool *is_meant, struct lines *out);
void lines_done(struct lines *lines);
