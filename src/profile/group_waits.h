/*
 * group_waits - of rows of the wall clock: how long their threads were in each state, and in which
 * system call they waited longest.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct groups;
struct waits_builder;

/* Of a row's total time. */
struct group_waits {
	uint64_t ns[THREAD_STATE_COUNT];
	struct function_id
		longest; /* the leaf of the stacks of most waits; none: no wait has one */
	uint64_t longest_ns;
	struct stack_id longest_stack; /* the one of them that most of that is of */
};

/* For as many rows as there are: NULL of other clocks.  They live as long as the groups. */
struct waits_builder *group_waits_begin(struct groups *groups, const struct profile *profile);
/* A weight of a row's; builder may be NULL. */
void group_waits_add(struct waits_builder *builder, uint32_t row, const struct weight *weight);
/* What is of each row is put there, and the builder is released. */
void group_waits_end(struct waits_builder *builder);
