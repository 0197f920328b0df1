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
/* How probable a value of Student's t as far from 0 as this one is, if chance alone made it. */
double statistics_t_chance(double t, double freedom);
/* The same of the normal distribution. */
double statistics_normal_chance(double z);
/*
 * The 95 % interval of a share, of which hits in count were seen: Wilson's, and of few hits the exact
 * one of those that have any, as rows that are shown do.  Neither need be whole: samples that repeat
 * each other count for less than one.  Without a hit low is 0, and high what a share may be that is
 * missed once in forty times.
 */
struct range statistics_share(double hits, double count);
/*
 * Benjamini and Hochberg: which of these chances are low enough that of all that are chosen one
 * in 1/rate is wrong.  Returns the largest that is chosen, or a negative number: none is.
 */
double statistics_discoveries(const double *chances, size_t count, double rate);
