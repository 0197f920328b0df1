/*
 * group_waits - for rows of the wall clock: how long their threads were in each state, and in
 * which system call they waited longest.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct groups;
struct waits_builder;

/* For a row's total time. */
struct group_waits {
	uint64_t ns[THREAD_STATE_COUNT];
	struct function_id longest; /* the system call with most waiting time; none: no waits */
	uint64_t longest_ns;
	struct stack_id longest_stack; /* the stack with most of that time */
};

/* For all rows; NULL for other clocks. The results live as long as the groups. */
struct waits_builder *group_waits_begin(struct groups *groups, const struct profile *profile);
/* Adds a weight to a row; builder may be NULL. */
void group_waits_add(struct waits_builder *builder, uint32_t row, const struct weight *weight);
/* Stores the results in the rows, and frees the builder. */
void group_waits_end(struct waits_builder *builder);
