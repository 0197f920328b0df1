/*
 * blame_terms - maps the threads and stacks of a recording to those of the profile that is
 * being built.
 */
#pragma once
#include <stddef.h>

#include "profile/profile.h"

struct table;

struct blame_terms {
	const struct profile *profile; /* with its stacks */
	const struct table *threads;   /* the recording's ids to the profile's */
	const struct stack_id *stacks; /* by the recording's id - 1 */
	size_t stack_count;
};
