/*
 * autocorrelation - by how much the variance of a row's sampled time exceeds that of
 * independent samples.
 *
 * A program that stays in a function for a while gives equal samples in succession: their sum
 * varies more from one stretch of the program to the next than that of independent samples.
 * Regular phases make it vary less.
 *
 * Samples are summed in slots of time. The variance of a series' sum is, up to a factor for its
 * length, its spectrum at frequency zero, and the squares of the first cosine coefficients are
 * independent estimates of that. Their mean is the variance, and the sum divided by its root
 * has Student's t distribution with as many degrees of freedom as there are coefficients (U. K.
 * Müller, A theory of robust long-run variance estimation, 2007). At most as many coefficients
 * are used as phases are seen one by one (change_points.h), so that with few phases the
 * interval widens as t does; it is at least as wide as the steps between those phases imply.
 *
 * Time before a row's first sample and after its last one is not part of the estimate: start-up
 * code ran once, and its length is known.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/sequence.h" /* SERIES_SLOTS */

struct row_series; /* change_points.h */

enum { PHASES_FEW = 10 };

struct autocorrelation {
	/*
	 * The variance of the row's time relative to independent samples: so many samples count
	 * as one.
	 */
	double inflation;
	/*
	 * In how many phases the row (or all other code) ran, if they are seen one by one and
	 * are at most PHASES_FEW; else 0. After one phase it is unknown how the row would come
	 * again: inflation is 1, and valid for this recording alone.
	 */
	unsigned int phases;
};

struct autocorrelation autocorrelation_of(struct row_series *series);
