/*
 * runs - times of a command that is run again and again: which are unlike the others, and when
 * enough of them are known.
 *
 * Pure functions.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct change;

/* Fewer runs a side say nothing of how much runs differ. */
enum { RUNS_LEAST = 5 };

/* The middle of them, or the mean of the two in the middle; 0 of none. */
double runs_median(const double *times, size_t count);
/* Which of them is nearest to the median: an index. */
size_t runs_nearest_to_median(const double *times, size_t count);
/*
 * Whether one is so far from the median that chance does not explain it: five times as far as the
 * others are (their median distance, as a standard deviation), and 1 % of it at least.  Never of
 * fewer than five.
 */
bool runs_is_outlier(const double *times, size_t count, double time);
/*
 * Whether more runs would hardly change the verdict: chance makes such a difference once in a
 * thousand times, or an interval more than twice as wide is still within the margin.  Far from the
 * 5 % of the last look, so that looking after every run makes few wrong verdicts (Haybittle and
 * Peto).
 */
bool runs_are_enough(const struct change *change, double margin);
