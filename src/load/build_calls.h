/*
 * build_calls - adds the traced calls of a recording to a profile, without the cost of tracing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

struct error;
struct recording_reader;
struct table;

/* Maps the recording's ids to the profile's. */
struct build_calls_terms {
	struct profile *profile;
	const struct table *threads;
	const struct stack_id *stacks; /* by id - 1 */
	size_t stack_count;
	/*
	 * By id - 1, too: calls that were not asked for, which have their callers' stacks.
	 * NULL: none.
	 */
	const bool *is_left_out;
	bool has_raw_times;
};

/* Adds to the info's sampled_ns, and fills in its figures on the cost of tracing. */
int build_calls(struct recording_reader *reader, const struct build_calls_terms *terms,
		struct error *err);
