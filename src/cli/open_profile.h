/* open_profile - loads a recording's profile, for report, export and info. */
#pragma once
#include <stdbool.h>

#include "profile/filter.h"

struct notes;
struct profile;

struct open_options {
	bool shows_plumbing, has_raw_times, has_time_slots,
		wants_blame;        /* as in load/load_options.h */
	struct filter_options part; /* only this part remains in the profile */
	bool asks_no_servers;       /* as in load/load_options.h */
	bool has_full_names;        /* for text exports */
	bool has_no_states;         /* for exports: profile/info.h */
	const char *own;            /* profile/info.h */
};

/*
 * The profile of the recording at path, with progress shown on a terminal; NULL if that fails,
 * with the error printed. notes may be NULL.
 */
struct profile *open_profile(const char *path, const struct open_options *options,
			     struct notes *notes);
