/*
 * handmade - profiles made by hand, of which a test knows what must be read back.
 */
#pragma once

struct profile;

struct handmade {
	const char *name;
	void (*fill)(struct profile *profile);
};

/* Ends with a row without a name. */
extern const struct handmade handmade_profiles[];

/* NULL if there is none of that name.  profile_free() */
struct profile *handmade_profile(const char *name);
