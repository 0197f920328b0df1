/*
 * compare - compares two sets of recordings of the same work, before and after a change: what
 * became slower?
 *
 * With two runs or more on each side, a change has to exceed the variation from run to run
 * (Welch's t-test, with variances estimated from all rows together: dispersion.h). With one
 * run, only the intervals from its samples are known, and nothing about other runs. One in
 * forty of the rows called changed is wrong, however many rows there are (Benjamini and
 * Hochberg). Times are means over runs.
 */
#pragma once
#include "profile/compare_terms.h"
#include "profile/comparison.h"

/* Release with comparison_done(). */
void comparison_make(const struct compare_terms *terms, struct comparison *out);
void comparison_done(struct comparison *comparison);
