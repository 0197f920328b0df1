#include "profile/common_factor.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "profile/compare_rows.h"

enum {
	ROWS_LEAST = 10,    /* of fewer rows, one that changed distorts the result */
	SAMPLES_LEAST = 20, /* per row, in all runs of both sides */
};

#define WEIGHT_MOST 0.05 /* of a row, relative to all */
/* Standard error of the mean of the middle half, relative to that of the plain mean. */
#define MIDDLE_ERROR 1.2

/* One row's time after, divided by its time before. */
struct ratio {
	double log, variance, weight;
};

static double mean_whole(const struct compare_rows *rows, int side)
{
	double sum = 0;

	for (size_t i = 0; i < rows->runs[side]; i++)
		sum += rows->wholes[side][i] / (double)rows->runs[side];
	return sum;
}

/* A run's total divided by its side's mean; 1 where nothing was recorded. */
static double factor_of(const struct compare_rows *rows, int side, size_t run, double mean)
{
	const double whole = rows->wholes[side][run];

	return whole > 0 && mean > 0 ? whole / mean : 1;
}

static bool find_ratio(const struct compare_rows *rows, const struct matched *row,
		       const double means[2], struct ratio *out)
{
	double samples[2] = { 0 }, times[2] = { 0 };

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; row->sides[side].runs && i < rows->runs[side]; i++) {
			const struct run_cost *cost = &row->sides[side].runs[i];

			samples[side] += cost->samples;
			times[side] += cost->self_ns / factor_of(rows, side, i, means[side]) /
				       (double)rows->runs[side];
		}
	if (samples[0] + samples[1] < SAMPLES_LEAST || samples[0] <= 0 || samples[1] <= 0 ||
	    times[0] <= 0 || times[1] <= 0)
		return false;
	*out = (struct ratio){ .log = log(times[1] / times[0]),
			       .variance = 1 / samples[0] + 1 / samples[1] };
	out->weight = 1 / out->variance;
	return true;
}

static int compare_ratios(const void *a, const void *b)
{
	const struct ratio *x = a, *y = b;

	return (x->log > y->log) - (x->log < y->log);
}

/* The mean of the middle half of the ratios, and its standard error. */
static double middle_of(struct ratio *ratios, size_t count, double *out_error)
{
	double all = 0, sum = 0, kept = 0, before = 0, error = 0;

	for (size_t i = 0; i < count; i++)
		all += ratios[i].weight;
	for (size_t i = 0; i < count; i++)
		ratios[i].weight = fmin(ratios[i].weight, WEIGHT_MOST * all);
	all = 0;
	for (size_t i = 0; i < count; i++)
		all += ratios[i].weight;
	qsort(ratios, count, sizeof *ratios, compare_ratios);
	for (size_t i = 0; i < count; i++) {
		const double from = fmax(before, all / 4);
		const double to = fmin(before + ratios[i].weight, all * 3 / 4);

		before += ratios[i].weight;
		error += ratios[i].weight * ratios[i].weight * ratios[i].variance;
		if (to <= from)
			continue;
		sum += (to - from) * ratios[i].log;
		kept += to - from;
	}
	*out_error = MIDDLE_ERROR * sqrt(error) / all;
	return sum / kept;
}

static void divide(struct compare_rows *rows, const double means[2], double log_change)
{
	for (size_t i = 0; i < rows->count; i++)
		for (int side = 0; side < 2; side++)
			for (size_t run = 0;
			     rows->rows[i].sides[side].runs && run < rows->runs[side]; run++) {
				struct run_cost *cost = &rows->rows[i].sides[side].runs[run];
				/*
				 * Applies half of the change to each side, so both are at the
				 * mean speed.
				 */
				const double factor = factor_of(rows, side, run, means[side]) *
						      exp((side ? 0.5 : -0.5) * log_change);

				cost->self_ns /= factor;
				cost->total_ns /= factor;
			}
}

static double noise_of(const struct compare_rows *rows, const double means[2])
{
	double squares = 0, freedom = 0;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < rows->runs[side]; i++)
			squares += pow(factor_of(rows, side, i, means[side]) - 1, 2);
		freedom += (double)rows->runs[side] - 1;
	}
	return sqrt(squares / freedom);
}

void common_factor_take(struct compare_rows *rows, double whole_error,
			struct common_factor *out)
{
	CLEANUP(freep) struct ratio *ratios = xzalloc((rows->count + 1) * sizeof *ratios);
	const double means[] = { mean_whole(rows, 0), mean_whole(rows, 1) };
	size_t count = 0;
	double error;

	for (size_t i = 0; i < rows->count; i++)
		count += find_ratio(rows, &rows->rows[i], means, &ratios[count]);
	if (count < ROWS_LEAST)
		return;
	const double log_change = middle_of(ratios, count, &error);

	if (error > whole_error / 2)
		return;
	divide(rows, means, log_change);
	*out = (struct common_factor){
		.is_taken_out = true,
		.change = exp(log_change) - 1,
		.noise = noise_of(rows, means),
		.error = error,
		.most = fabs(log_change) + 1.96 * whole_error,
	};
}
