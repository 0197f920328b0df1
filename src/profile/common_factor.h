/*
 * common_factor - the factor common to the times of all rows of a run: how fast the machine
 * was.
 *
 * Runs of one side do the same work, so their totals give the factor. Between the sides, totals
 * also differ by the change under test; but most rows are unchanged by it, so the middle half
 * of their ratios, weighted by samples and none by more than a twentieth, gives the machine's
 * factor (as the trimmed mean of M. D. Robinson and A. Oshlack, 2010, for gene counts).
 */
#pragma once
#include <stdbool.h>

/*
 * How fast the machine was. The factor is taken out if the whole shows no change and rows give
 * the factor between the sides more precisely than the whole does.
 */
struct common_factor {
	bool is_taken_out;
	double change; /* of the side after, as taken out: 0.03 is 3 % more */
	double noise;  /* how much the factor differs from run to run: standard deviation */
	double error;  /* standard error of change, by the rows */
	double most;   /* the largest change that the whole allows */
};

struct compare_rows;

/*
 * Divides the times of all rows' runs by the factor, if rows give it with at most half the
 * error of the totals (whole_error, relative). Otherwise *out is not changed.
 */
void common_factor_take(struct compare_rows *rows, double whole_error,
			struct common_factor *out);
