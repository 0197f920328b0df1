/* compare_rows - the rows of several recordings side by side, as input of compare.c. */
#pragma once
#include "profile/compare_terms.h"

/* One row in one run. */
struct run_cost {
	double self_ns, total_ns;
	/* Due to its samples, allowing for repeated ones. */
	double self_variance, total_variance;
	double samples, total_samples, calls;
};

struct side_row {
	const struct group *group; /* of one run, for names; NULL: this side lacks the row */
	struct run_cost *runs;     /* by run */
};

struct matched {
	struct side_row sides[2];
};

struct compare_rows {
	struct matched *rows;
	size_t count, capacity;
	struct groups *groups[2]; /* by run: names point into these */
	size_t runs[2];
	double *wholes[2]; /* by run, in ns */
};

/* Release with compare_rows_done(). */
void compare_rows_make(const struct compare_terms *terms, struct compare_rows *out);
void compare_rows_done(struct compare_rows *rows);
