/*
 * build - makes a profile's stacks and weights of a recording and the names of its frames.
 *
 * One frame of a recording becomes as many frames of the profile as there are functions
 * at its address: the function whose code it is, and the calls inlined there.
 */
#pragma once

struct error;
struct folding;
struct names;
struct profile;
struct recording_reader;

/* names must be sorted.  Fills in sampled_ns and the account's parts of the info. */
int build_profile(struct recording_reader *reader, const struct names *names,
		  const struct folding *folding, struct profile *profile, struct error *err);
