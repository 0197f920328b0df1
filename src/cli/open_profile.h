/*
 * open_profile - what report, export and info begin with: a recording's profile.
 */
#pragma once
#include <stdbool.h>

#include "profile/filter.h"

struct notes;
struct profile;

struct open_options {
	bool shows_plumbing, has_raw_times, has_time_slots,
		wants_blame;        /* as in load/load_options.h */
	struct filter_options part; /* what alone is left in the profile */
	bool asks_no_servers;       /* as in load/load_options.h */
	bool has_full_names;        /* for exports that are text */
	bool has_no_states;         /* for exports: profile/info.h */
	const char *own;            /* profile/info.h */
};

/*
 * The profile of the recording at path, with progress on a terminal; reported and NULL if that
 * fails.  notes may be NULL.
 */
struct profile *open_profile(const char *path, const struct open_options *options,
			     struct notes *notes);
