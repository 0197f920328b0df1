/*
 * difference_terms - what difference.h draws.
 */
#pragma once
#include <stddef.h>

struct comparison;
struct profile;

enum difference_side { DIFFERENCE_BEFORE, DIFFERENCE_AFTER };

struct difference_terms {
	struct profile *const *profiles[2]; /* before and after */
	size_t counts[2];
	const struct comparison *comparison; /* of the same, by function */
	const char *titles[2];               /* what they are of */
};
