/*
 * dispersion - how much a row's time varies from run to run, estimated from all rows of a
 * comparison.
 *
 * Ten runs say little about one row's variance. But rows are alike: for a row of n samples,
 * variance over squared mean is about sampling / n + between. Each row's own variance is moved
 * towards that, the more the less rows differ from it (empirical Bayes: G. K. Smyth, Linear
 * models and empirical Bayes methods, 2004), which gives its test more degrees of freedom.
 */
#pragma once
#include <stddef.h>

/* The runs of one row on one side. */
struct row_spread {
	double samples;  /* of a run, on average */
	double mean;     /* time of a run */
	double variance; /* of one run */
	double freedom;  /* runs - 1 */
};

struct dispersion {
	double sampling, between; /* relative variances: of one sample, and of runs */
	double freedom;           /* gained on one side; 0: too few rows to fit */
};

/* Fits all rows' sides. Those with few samples are left out. */
struct dispersion dispersion_of(const struct row_spread *rows, size_t count);
/* Moderates a row's variance, and adds to its degrees of freedom. */
void dispersion_moderate(const struct dispersion *dispersion, struct row_spread *row);
