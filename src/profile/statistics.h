/*
 * statistics - the few distributions and intervals that reports and comparisons need.
 *
 * Pure functions. P-values are two-sided.
 */
#pragma once
#include <stddef.h>

struct range {
	double low, high;
};

/*
 * The 95 % two-sided quantile of Student's t with so many degrees of freedom (at least 1, or
 * INFINITY).
 */
double statistics_t_95(double freedom);
/*
 * Enlarges a variance known with so many degrees of freedom, so that 1.96 of its square roots
 * are as wide as t.
 */
double statistics_widened(double variance, double freedom);
/* The p-value of Student's t: the probability of a value this far from 0 by chance. */
double statistics_t_p_value(double t, double freedom);
/*
 * The 95 % interval of a share, of which hits in count were seen: Wilson's; for few hits the
 * exact one, conditional on at least one hit, which is true of all rows shown. Neither argument
 * need be an integer: repeated samples count for less than one. With no hit, low is 0, and high
 * the share that chance misses once in forty times.
 */
struct range statistics_share(double hits, double count);
/*
 * Benjamini and Hochberg: chooses the p-values low enough that a fraction `rate` of those
 * chosen is wrong. Returns the largest chosen, or a negative number: none is.
 */
double statistics_discoveries(const double *p_values, size_t count, double rate);
/* The first and second derivative of the log gamma function, for x > 0. */
double statistics_digamma(double x);
double statistics_trigamma(double x);
