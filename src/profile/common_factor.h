/*
 * common_factor - what the times of all rows of a run have in common: how fast the machine was.
 *
 * Runs of one side are the same work, so that their totals say it.  Between the sides the totals
 * differ by what the change under test did, too; but most rows are unchanged, so that the middle
 * half of their ratios, weighted by samples and none by more than a twentieth, says by how much the
 * machine did (as the trimmed mean of M. D. Robinson and A. Oshlack, 2010, for gene counts).
 */
#pragma once
#include <stdbool.h>

/*
 * How fast the machine was, all rows of a run have in common.  It is taken out of their times where
 * the whole shows no change and rows say better than the whole by how much the sides differ in it.
 */
struct common_factor {
	bool is_taken_out;
	double change; /* of the side after: 0.03 is 3 % more; it was taken out */
	double noise;  /* how much it differs from run to run: a standard deviation */
	double error;  /* of the change, as rows say it */
	double most;   /* that the change may be, as the whole says it */
};

struct compare_rows;

/*
 * Divides the times of all rows' runs by it, if rows say it with half the error that the totals have
 * (whole_error, relative) or less.  out is left alone else.
 */
void common_factor_take(struct compare_rows *rows, double whole_error,
			struct common_factor *out);
