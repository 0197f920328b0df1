/*
 * slowdown - how much longer the same work takes under a recorder, from runs in turn.
 *
 * Each pair is one run without and one with it, close in time, so that what else the machine does
 * falls on both.  The mean is that of the logarithms of the ratios, the interval Student's.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct slowdown {
	double ratio;     /* with over without: 1.017 */
	double low, high; /* in which it lies with 95 % confidence */
	size_t pairs;
};

/* False below three pairs, or with a time that is not positive. */
bool slowdown_of_pairs(const double *without, const double *with, size_t pairs,
		       struct slowdown *out);
