/*
 * build - makes a profile's stacks and weights from a recording and the names of its frames.
 *
 * One frame of a recording becomes as many frames of the profile as there are functions at its
 * address: the function whose code it is, and the calls inlined there.
 */
#pragma once
#include <stdbool.h>

struct error;
struct folding;
struct names;
struct profile;
struct recording_reader;

struct build_terms {
	const struct names *names; /* sorted */
	const struct folding *folding;
	bool has_time_slots; /* fills in the profile's, too: every sample is read */
	bool has_raw_times;  /* traced calls keep measured times (load/correction.h) */
	bool wants_blame;    /* as in load_options.h */
};
/* Fills in sampled_ns, what measuring took, and the account's parts of the info. */
int build_profile(struct recording_reader *reader, const struct build_terms *terms,
		  struct profile *profile, struct error *err);
