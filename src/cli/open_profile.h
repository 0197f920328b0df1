/*
 * open_profile - what report, export and info begin with: a recording's profile.
 */
#pragma once
#include <stdbool.h>

struct notes;
struct profile;

/* As in load/load.h. */
struct open_options {
	bool shows_plumbing, has_raw_times;
};

/*
 * The profile of the recording at path, with progress on a terminal; reported and NULL if that
 * fails.  notes may be NULL.
 */
struct profile *open_profile(const char *path, const struct open_options *options,
			     struct notes *notes);
