/*
 * statistics - the few distributions and intervals that reports and comparisons need.
 *
 * Pure functions.  Probabilities are of both sides together.
 */
#pragma once
#include <stddef.h>

struct range {
	double low, high;
};

/* That of Student's t with so many degrees of freedom (1 and more, or INFINITY) which 95 % lie
 * within. */
double statistics_t_95(double freedom);
/* What a variance known with so much freedom must be, for 1.96 of its roots to be as wide as t. */
double statistics_widened(double variance, double freedom);
/* The p-value of Student's t: how probable one as far from 0 as this is, if chance alone made it. */
double statistics_t_p_value(double t, double freedom);
/*
 * The 95 % interval of a share, of which hits in count were seen: Wilson's, and of few hits the exact
 * one of those that have any, as rows that are shown do.  Neither need be whole: samples that repeat
 * each other count for less than one.  Without a hit low is 0, and high what a share may be that is
 * missed once in forty times.
 */
struct range statistics_share(double hits, double count);
/*
 * Benjamini and Hochberg: which of these p-values are low enough that of all that are chosen one
 * in 1/rate is wrong.  Returns the largest that is chosen, or a negative number: none is.
 */
double statistics_discoveries(const double *p_values, size_t count, double rate);
/* The first and second derivative of the logarithm of the gamma function, of x > 0. */
double statistics_digamma(double x);
double statistics_trigamma(double x);
