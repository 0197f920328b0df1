/* change - the difference of a time between two sides of runs, its p-value, and the verdict. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/dispersion.h"

/* The largest p-value of a significant change, if it is tested alone. */
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
	double p_value;         /* probability of a difference as large by chance */
	enum verdict verdict;
};

/* The change relative to before; INFINITY where before is 0. */
double change_share(const struct change *change);
enum limit_outcome { LIMIT_KEPT, LIMIT_PASSED, LIMIT_UNDECIDED };
/*
 * Whether the change exceeds a limit (0.2: 20 %). Undecided if a larger change may be chance,
 * or if a change as large as the limit could not have been detected. With several limits, the
 * probability that chance passes any is 5 % at most (Bonferroni).
 */
enum limit_outcome change_check_limit(const struct change *change, double limit,
				      size_t limit_count);
/* p_value_most: the largest p-value that counts as a change. */
enum verdict verdict_of(const struct change *change, double p_value_most, double margin);

/* The runs of one side. */
struct side_runs {
	struct row_spread runs;
	double within; /* the variance due to a run's samples alone */
	size_t count;
};

struct t_test {
	double error; /* standard error of the difference of the means */
	double freedom;
};

/* variances: of each value, due to its samples. */
struct side_runs side_runs_of(const double *values, const double *variances, size_t count);
/*
 * Welch's t-test over runs; with one run a side, a test by their samples' variances.
 * common_error is the relative standard error of the factor common to all rows.
 */
struct t_test t_test_of(const struct side_runs sides[2], bool is_over_runs,
			double common_error);
/* The change between the sides; its verdict is not set. */
struct change change_of_sides(const struct side_runs sides[2], const struct t_test *test);
/* Compares times of two or more runs on each side, at the 5 % level. */
struct change change_over_runs(const double *const times[2], const size_t counts[2],
			       double margin);
