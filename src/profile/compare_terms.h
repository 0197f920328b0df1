/* compare_terms - the parameters of compare.h. */
#pragma once
#include <stddef.h>

#include "profile/groups.h"

struct profile;

struct compare_terms {
	struct profile *const *profiles[2]; /* before and after; must outlive the comparison */
	size_t counts[2];
	enum group_by by; /* function, line, module or package */
	double margin;
};
