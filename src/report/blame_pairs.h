/*
 * blame_pairs - what made threads wait, one row for each pair of threads and what both executed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/blame.h"

struct filter;

struct blame_pairs {
	struct blame *rows; /* the longest first; each with its heaviest pair of stacks */
	size_t count;
	uint64_t whole_ns;   /* of all rows */
	uint64_t unknown_ns; /* of waits without an owner, whatever the filter */
};

/* The profile has its blames.  filter, of the threads that waited, may be NULL. */
void blame_pairs_make(const struct profile *profile, const struct filter *filter,
		      struct blame_pairs *out_pairs);
void blame_pairs_done(struct blame_pairs *pairs);

/*
 * The frame of a stack that says most of what a thread executes: the innermost of one's own code,
 * else of Python or Ruby, else of anything but the C library and the kernel.
 */
struct frame_id blame_frame_of(const struct profile *profile, struct stack_id stack);
bool blame_is_c_library(const struct profile *profile, struct frame_id frame);
