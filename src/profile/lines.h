/*
 * lines - self and total time of each line of a function.
 *
 * A line's total is the time during which it was being executed anywhere on the stack:
 * recursion counts once. So the totals of a function's lines may add up to more than the
 * function's own.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct filter;

struct line_cost {
	uint32_t line; /* 0: unknown */
	struct cost cost;
};

/* The lines of one function in one file. Macros and included files make further parts. */
struct lines_part {
	struct function_id function;
	const char *file;       /* NULL: unknown */
	struct cost cost;       /* of the function */
	struct line_cost *rows; /* by line; points into the rows of struct lines */
	size_t count;
};

struct lines {
	struct lines_part *parts; /* by total of the function, the largest first */
	size_t part_count;
	struct line_cost *rows;
	size_t count;
	struct cost cost; /* of all selected functions together */
};

/*
 * For the functions in is_meant (by function id, as find_functions() sets it). Lines without
 * time and samples are left out. filter may be NULL. Release with lines_done().
 */
void lines_make(const struct profile *profile, const struct filter *filter,
		const bool *is_meant, struct lines *out);
void lines_done(struct lines *lines);
