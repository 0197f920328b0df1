/*
 * build_calls - traced calls of a recording as weights of a profile, without what measuring
 * took.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

struct error;
struct recording_reader;
struct table;

/* What the recording's ids are in the profile. */
struct build_calls_terms {
	struct profile *profile;
	const struct table *threads;
	const struct stack_id *stacks; /* by id - 1 */
	size_t stack_count;
	/*
	 * The same: calls that were not asked for, on their callers' stacks.  NULL: there are
	 * none.
	 */
	const bool *is_left_out;
	bool has_raw_times;
};

/* Adds to sampled_ns, and fills in what the info has of measuring. */
int build_calls(struct recording_reader *reader, const struct build_calls_terms *terms,
		struct error *err);
