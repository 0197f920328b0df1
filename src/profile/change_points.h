/*
 * change_points - finds where in a recording a row's share of the time changed, and estimates
 * from these few changes how its time varies.
 *
 * Phases longer than a slot are seen one by one: the series is cut where its share rises or
 * falls by more than chance and the noise of its slots explain, and the pieces are cut again
 * (circular binary segmentation: A. B. Olshen et al., 2004).
 *
 * With ten phases or fewer, a spectrum says next to nothing, and gives too small a variance
 * rather than too large: the long phases did not occur. The variance is then estimated from the
 * steps between pieces: for shares that forget their value as quickly as they change (on and
 * off at random, in any number of threads) it is 4 spread^2 / sum of the squared steps, where
 * spread is the variance of the share over time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct change_points {
	size_t count;
	size_t turns;    /* changes whose direction differs from the one before */
	bool is_certain; /* no chance makes a change as large */
	double variance; /* of the sum of part; 0: there are no changes */
};

/* The time of a row and of everything in each slot, in order. */
struct row_series {
	const float *part, *whole;
	size_t count;  /* SERIES_SLOTS and fewer */
	double weight; /* one sample's, in the same unit */
	/* Of row_series_changes(): finding them takes longer than all else that is done with a row. */
	struct change_points changes;
	bool has_changes;
};

struct change_points change_points_of(const float *part, const float *whole, size_t count,
				      double weight);
/* The same of a series, found once. */
const struct change_points *row_series_changes(struct row_series *series);
