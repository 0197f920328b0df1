/*
 * dispersion - how much the time of a row differs from run to run, as all rows of a comparison
 * together say.
 *
 * Ten runs say little of one row's variance.  But rows are alike: the variance of one that n samples
 * stand for is, over its square mean, near sampling / n + between.  Each row's own is moved towards
 * that, the more the less rows differ from it (empirical Bayes: G. K. Smyth, Linear models and
 * empirical Bayes methods, 2004), which gives its test more degrees of freedom.
 */
#pragma once
#include <stddef.h>

/* The runs of one side, of one row. */
struct row_spread {
	double samples;  /* of a run, on average */
	double mean;     /* time of a run */
	double variance; /* of one run */
	double freedom;  /* the runs less one */
};

struct dispersion {
	double sampling, between; /* relative variances: of one sample, and of runs */
	double freedom;           /* what knowing them is worth on one side; 0: too few rows */
};

/* Of all rows' sides.  Those with few samples are left out. */
struct dispersion dispersion_of(const struct row_spread *rows, size_t count);
/* Moves the variance of one of them, and adds to its freedom. */
void dispersion_moderate(const struct dispersion *dispersion, struct row_spread *row);
