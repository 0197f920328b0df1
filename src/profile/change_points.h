/*
 * change_points - where in a recording the share of a row changed, and what so few changes say of
 * how its time varies.
 *
 * Phases that last longer than a slot are seen one by one: the series is cut where its share rises
 * or falls by more than chance and its own slots' noise explain, and cut again within the pieces
 * (circular binary segmentation: A. B. Olshen et al., 2004).
 *
 * Of ten phases and fewer a spectrum says next to nothing, and too little rather than too much: the
 * long ones were not met.  The variance is then taken from the steps between the pieces: for shares
 * that forget where they were as quickly as they change (on and off at random, in any number of
 * threads) it is 4 spread^2 / sum of the squared steps, where spread is the variance of the share
 * over time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct change_points {
	size_t count;
	size_t turns;    /* without those that go on in the direction of the one before */
	bool is_certain; /* no chance makes one as large */
	double variance; /* of the sum of part; 0: there are none */
};

/*
 * part and whole are the time of a row and of everything in each of SERIES_SLOTS slots or fewer, in
 * order; weight is one sample's, in the same unit.
 */
struct change_points change_points_of(const float *part, const float *whole, size_t count,
				      double weight);
