/*
 * autocorrelation - by how much the variance of a row's sampled time exceeds that of independent
 * samples.
 *
 * A program that is in a function for a while gives samples in a row that say the same: their sum
 * varies more from one stretch of the program to the next than that of independent samples.  Phases
 * that are regular make it vary less.
 *
 * Samples are summed in slots of time.  The variance of the sum of a series is, but for its length,
 * its spectrum at frequency zero, of which the squares of the first cosine coefficients are
 * estimates that do not depend on each other.  Their mean is the variance, and the sum over its
 * root has Student's t distribution with as many degrees of freedom as there are coefficients
 * (U. K. Müller, A theory of robust long-run variance estimation, 2007).  There are no more of them
 * than phases that are seen one by one (change_points.h), so that the interval widens as t does where
 * there are few; and of those it is as wide as their steps make it, at least.
 *
 * Before a row's first sample and behind its last one nothing is estimated: start-up code ran once,
 * and how long is known.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/sequence.h" /* SERIES_SLOTS */

enum { PHASES_FEW = 10 };

struct autocorrelation {
	/* The variance of the row's time over that of independent samples: so many samples count
	 * for one. */
	double inflation;
	/* In how many phases it came (or all else did), if they are seen one by one and are PHASES_FEW
	 * and fewer; else 0.  Of one, how it would come again is not known: inflation is 1, of this
	 * recording alone. */
	unsigned int phases;
};

/*
 * part and whole are the time of a row and of everything in each slot, in order; weight is one
 * sample's, in the same unit.
 */
struct autocorrelation autocorrelation_of(const float *part, const float *whole, size_t count,
					  double weight);
