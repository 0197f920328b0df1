/* interpreters - reads which interpreters a recording's processes had mapped. */
#pragma once

struct error;
struct folding;
struct profile;
struct recording_reader;

/* Fills in the interpreters of the profile's info, and which modules are folded for them. */
int interpreters_read(struct recording_reader *reader, struct folding *folding,
		      struct profile *profile, struct error *err);
