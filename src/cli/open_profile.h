/*
 * open_profile - what report, export and info begin with: a recording's profile.
 */
#pragma once
#include <stdbool.h>

struct notes;
struct profile;

/*
 * The profile of the recording at path, with progress on a terminal; told and NULL if that
 * fails.  shows_plumbing: as in load/load.h.  notes may be NULL.
 */
struct profile *open_profile(const char *path, bool shows_plumbing, struct notes *notes);
