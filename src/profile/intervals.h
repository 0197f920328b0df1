/*
 * intervals - the 95 % confidence interval of the time of each row of a report.
 *
 * Uncertain are the moments of the samples, and how a program that was sampled for a while
 * continues: an interval is of the share that the row would have in the long run. It is that of
 * a share of independent samples (statistics.h), with the number of independent samples that
 * the row's samples amount to (autocorrelation.h). Time not represented by samples is exact, as
 * all times of a trace: both ends are the time itself.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct filter;
struct profile;

struct interval {
	uint64_t low_ns, high_ns;
	/*
	 * The number of phases the row came in, if few (autocorrelation.h); with one, the
	 * interval is of this recording alone. Else 0.
	 */
	unsigned int phases;
};

/* Of one row. */
struct intervals {
	struct interval self, total;
};

/*
 * Rows consist of places, which are nodes of a tree. Place 0 is the root, in no row; a parent's
 * number is smaller than its child's. A row's total is the time of its outermost places.
 */
struct interval_terms {
	const struct profile *profile;
	const struct filter *filter; /* NULL: all */
	/* By stack id, or by thread id (0: unknown); both NULL: the place is the stack's id. */
	const uint32_t *place_of_stack, *place_of_thread;
	const uint32_t *parents; /* by place */
	const uint32_t *rows;    /* by place; NULL: each place is a row */
	size_t place_count;      /* including the root */
	size_t row_count;
};

/* Fills in row_count elements of out_rows. */
void intervals_find(const struct interval_terms *terms, struct intervals *out_rows);
