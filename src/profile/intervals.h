/*
 * intervals - the 95 % confidence interval of the time of each row of a report.
 *
 * What is not certain is when samples fell, and how a program goes on that was sampled for a while:
 * an interval is of the share that the program would have in the long run.  It is that of a share of
 * independent samples (statistics.h), of as many as the row's samples count for (autocorrelation.h).
 * What no sample stands for is exact, as all times of a trace are: both ends are the time itself.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct filter;
struct profile;

struct interval {
	uint64_t low_ns, high_ns;
	/* In how many phases it came, if few (autocorrelation.h); of one, the interval is of this
	 * recording alone.  Else 0. */
	unsigned int phases;
};

/* Of one row. */
struct intervals {
	struct interval self, total;
};

/*
 * Rows are made of places, as nodes of a tree.  Place 0 is the root, of no row; a parent's number
 * is smaller than its child's.  A row's total is the time of its outermost places.
 */
struct interval_terms {
	const struct profile *profile;
	const struct filter *filter; /* NULL: all */
	/* By stack id, or by thread id (0: none is known); both NULL: it is the stack's id. */
	const uint32_t *place_of_stack, *place_of_thread;
	const uint32_t *parents; /* by place */
	const uint32_t *rows;    /* likewise; NULL: each place is a row */
	size_t place_count;      /* with the root */
	size_t row_count;
};

/* Fills in row_count of out_rows. */
void intervals_find(const struct interval_terms *terms, struct intervals *out_rows);
