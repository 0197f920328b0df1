/*
 * compare - two sets of recordings of the same work, before and after a change: what became slower.
 *
 * With two runs and more on each side what differs from run to run is what a change has to exceed
 * (Welch's t-test, of variances that all rows together say: dispersion.h).  With one, only the
 * intervals of its samples are known, and nothing of other runs.  Among the rows one in forty that
 * is called changed is not, however many there are (Benjamini and Hochberg).  Times are a run's
 * mean.
 */
#pragma once
#include "profile/compare_terms.h"
#include "profile/comparison.h"

/* Release with comparison_done(). */
void comparison_make(const struct compare_terms *terms, struct comparison *out);
void comparison_done(struct comparison *comparison);
