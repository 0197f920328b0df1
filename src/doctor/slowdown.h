/*
 * slowdown - how much longer the same work takes under a recorder, from alternating runs.
 *
 * Each pair is one run without and one with the recorder, close in time, so that other load
 * affects both. The mean is that of the logarithms of the ratios, with Student's interval.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct slowdown {
	double ratio;     /* with / without: 1.017 */
	double low, high; /* the 95 % confidence interval */
	size_t pairs;
};

/* False with fewer than three pairs, or with a time that is not positive. */
bool slowdown_of_pairs(const double *without, const double *with, size_t pairs,
		       struct slowdown *out);
