/*
 * change - by how much a time differs between two sides of runs, how probable as large a difference
 * is without a cause, and the verdict.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/dispersion.h"

/* A change with a smaller p-value is one, where it is tested alone. */
#define SIGNIFICANCE 0.05

enum verdict {
	VERDICT_CANNOT_TELL,
	VERDICT_SLOWER,
	VERDICT_FASTER,
	VERDICT_UNCHANGED, /* its confidence interval lies within the margin */
	VERDICT_NEW,
	VERDICT_GONE,
	VERDICT_COUNT,
};
/* "cannot_tell", "slower", … */
const char *verdict_name(enum verdict verdict);

struct change {
	double before_ns, after_ns;
	double low_ns, high_ns; /* the 95 % confidence interval of the difference */
	double p_value;         /* how probable as large a difference is without a cause */
	enum verdict verdict;
};

/* The change over what was before; INFINITY where that is 0. */
double change_share(const struct change *change);
enum limit_outcome { LIMIT_KEPT, LIMIT_PASSED, LIMIT_UNDECIDED };
/*
 * Whether it is larger than a limit (0.2: 20 %).  That is undecided where a change is larger and may
 * be chance, or where one of that size could not have been seen.  Of several limits any is passed
 * without a cause once in twenty times at most (Bonferroni).
 */
enum limit_outcome change_check_limit(const struct change *change, double limit,
				      size_t limit_count);
/* p_value_most: the largest p-value that is a change's. */
enum verdict verdict_of(const struct change *change, double p_value_most, double margin);

/* The runs of one side. */
struct side_runs {
	struct row_spread runs;
	double within; /* the variance of a run's samples alone */
	size_t count;
};

struct t_test {
	double error; /* of the difference of the means */
	double freedom;
};

/* variances: of each value's samples. */
struct side_runs side_runs_of(const double *values, const double *variances, size_t count);
/*
 * Welch's t-test over runs; of one run a side, a test of their samples' variances.  common_error is
 * what is not known of what all rows differ by, over the mean.
 */
struct t_test t_test_of(const struct side_runs sides[2], bool is_over_runs,
			double common_error);
/* The change between them; its verdict is not set. */
struct change change_of_sides(const struct side_runs sides[2], const struct t_test *test);
/* Of any times of two and more runs on each side, judged at 5 %. */
struct change change_over_runs(const double *const times[2], const size_t counts[2],
			       double margin);
