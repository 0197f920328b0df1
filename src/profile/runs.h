/*
 * runs - times of a command that is run repeatedly: finds outliers, and decides when there are
 * enough runs.
 *
 * Pure functions.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct change;

/* With fewer runs a side, their variation is unknown. */
enum { RUNS_LEAST = 5 };

/* The median; 0 of none. */
double runs_median(const double *times, size_t count);
/* The index of the time nearest to the median. */
size_t runs_nearest_to_median(const double *times, size_t count);
/*
 * Whether a time is too far from the median for chance: five standard deviations (by the median
 * absolute deviation of all), and at least 1 % of the median. False for fewer than five times.
 */
bool runs_is_outlier(const double *times, size_t count, double time);
/*
 * Whether more runs would hardly change the verdict: chance makes such a difference once in a
 * thousand times, or an interval more than twice as wide would still be within the margin. That
 * is far from the final 5 %, so that testing after every run rarely gives a wrong verdict
 * (Haybittle and Peto).
 */
bool runs_are_enough(const struct change *change, double margin);
