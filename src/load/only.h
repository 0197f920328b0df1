/*
 * only - the functions that a trace was to count, and what becomes of the others' time.
 *
 * A call of a function that was not asked for is none, and its time is that of the nearest one
 * outside of it that was.  Which those are is abi/only.h's to say.
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

/* By the profile's facts.  The names stay the caller's. */
void only_init(struct only *only, const struct profile *profile, const struct names *names);
void only_done(struct only *only);
/* Whether a function's calls are left out. */
bool only_leaves_out(struct only *only, size_t function);
