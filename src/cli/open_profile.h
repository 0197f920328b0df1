/*
 * open_profile - what report, export and info begin with: a recording's profile.
 */
#pragma once

struct notes;
struct profile;

/* The profile of the recording at path, with progress on a terminal; told and NULL if that
 * fails.  notes may be NULL. */
struct profile *open_profile(const char *path, struct notes *notes);
