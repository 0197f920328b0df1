/*
 * only - finds which functions a trace was asked to count (`fathom trace --only`).
 *
 * Calls of other functions are not counted, and their time belongs to the nearest function
 * outside of them that was asked for.  abi/only.h matches the patterns.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct names;
struct profile;

struct only {
	char *patterns; /* NULL: everything is wanted */
	const struct names *names;
	unsigned char *verdicts; /* by function of names; 0: not known so far */
};

/* Takes the patterns from the profile's info.  The names stay the caller's. */
void only_init(struct only *only, const struct profile *profile, const struct names *names);
void only_done(struct only *only);
/* Whether a function's calls are left out. */
bool only_leaves_out(struct only *only, size_t function);
