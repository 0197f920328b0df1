/* difference_terms - the parameters of difference.h. */
#pragma once
#include <stddef.h>

struct comparison;
struct profile;

enum difference_side { DIFFERENCE_BEFORE, DIFFERENCE_AFTER };

struct difference_terms {
	struct profile *const *profiles[2]; /* before and after */
	size_t counts[2];
	const struct comparison *comparison; /* of the same profiles, by function */
	const char *titles[2];               /* of the two sides */
};
