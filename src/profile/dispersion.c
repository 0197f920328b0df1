#include "profile/dispersion.h"

#include <math.h>
#include <stdbool.h>

#include "profile/statistics.h"

enum {
	ROWS_LEAST = 40, /* of sides: with fewer, no fit is made */
	FITS = 8,        /* iterations, after which the fit is stable */
};

/* Samples per run: with fewer, the variance is mostly that of counting. */
static const double SAMPLES_LEAST = 5;
/*
 * Lower bound: samples of regular phases vary less than counting does, but no less than this.
 */
static const double SAMPLING_LEAST = 0.3;
/*
 * Upper bound, per degree of a row: all rows share the runs' common variation, and runs are
 * few.
 */
static const double FREEDOM_MOST = 2;

static bool is_usable(const struct row_spread *row)
{
	return row->samples >= SAMPLES_LEAST && row->freedom >= 1;
}

static double expected(const struct dispersion *dispersion, double samples)
{
	return dispersion->sampling / samples + dispersion->between;
}

static double relative(const struct row_spread *row)
{
	return row->variance / (row->mean * row->mean);
}

/* A least-squares fit, weighted by each row's precision and the square root of its samples. */
static void fit_once(const struct row_spread *rows, size_t count, struct dispersion *fit)
{
	double xx = 0, x = 0, one = 0, xy = 0, y = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_usable(&rows[i]))
			continue;
		const double each = 1 / rows[i].samples, value = relative(&rows[i]);
		const double weight = rows[i].freedom * sqrt(rows[i].samples) /
				      pow(expected(fit, rows[i].samples), 2);

		xx += weight * each * each;
		x += weight * each;
		one += weight;
		xy += weight * each * value;
		y += weight * value;
	}
	const double determinant = xx * one - x * x;

	if (determinant > 0) {
		fit->sampling = (xy * one - x * y) / determinant;
		fit->between = (xx * y - x * xy) / determinant;
	}
	if (fit->between < 0) {
		fit->between = 0;
		fit->sampling = xy / xx;
	}
	if (fit->sampling < SAMPLING_LEAST) {
		fit->sampling = SAMPLING_LEAST;
		fit->between = fmax((y - fit->sampling * x) / one, 0);
	}
}

/* Logarithms of rows' variances over the expected ones: their mean and variance. */
struct residuals {
	double mean, variance;
	double of_chance; /* expected variance if all rows are alike */
};

struct totals {
	double samples, sides, freedom, most_freedom;
};

static struct totals totals_of(const struct row_spread *rows, size_t count)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!is_usable(&rows[i]))
			continue;
		totals.sides++;
		totals.samples += rows[i].samples;
		totals.most_freedom = fmax(totals.most_freedom, rows[i].freedom);
	}
	return totals;
}

/* Half of the weight is by samples: rows with many differ by more than counting does. */
static struct residuals residuals_of(const struct row_spread *rows, size_t count,
				     const struct dispersion *fit, const struct totals *totals)
{
	struct residuals residuals = { 0 };
	double square_weights = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_usable(&rows[i]))
			continue;
		const double half = rows[i].freedom / 2;
		const double weight =
			0.5 / totals->sides + 0.5 * rows[i].samples / totals->samples;
		const double ratio = relative(&rows[i]) / expected(fit, rows[i].samples);
		const double residual =
			log(fmax(ratio, 1e-3)) - statistics_digamma(half) + log(half);

		residuals.mean += weight * residual;
		squares += weight * residual * residual;
		square_weights += weight * weight;
		residuals.of_chance += weight * statistics_trigamma(half);
	}
	residuals.variance = (squares - residuals.mean * residuals.mean) / (1 - square_weights);
	return residuals;
}

/* The inverse of trigamma, which decreases, by bisection. */
static double inverse_trigamma(double value)
{
	double low = 1e-3, high = 1e6;

	for (int i = 0; i < 60; i++) {
		const double middle = sqrt(low * high);

		if (statistics_trigamma(middle) > value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct dispersion dispersion_of(const struct row_spread *rows, size_t count)
{
	struct dispersion fit = { .sampling = 1 };
	const struct totals totals = totals_of(rows, count);

	if (totals.sides < ROWS_LEAST)
		return fit;
	for (int i = 0; i < FITS; i++)
		fit_once(rows, count, &fit);
	const struct residuals residuals = residuals_of(rows, count, &fit, &totals);
	const double unlike = residuals.variance - residuals.of_chance;
	const double most = FREEDOM_MOST * totals.most_freedom;

	/* For both sides together it is twice this. */
	fit.freedom = unlike > 0 ? fmin(inverse_trigamma(unlike), most) : most;
	const double scale =
		exp(residuals.mean + statistics_digamma(fit.freedom) - log(fit.freedom));

	fit.sampling *= scale;
	fit.between *= scale;
	return fit;
}

void dispersion_moderate(const struct dispersion *dispersion, struct row_spread *row)
{
	if (dispersion->freedom <= 0 || row->samples <= 0)
		return;
	const double usual = expected(dispersion, row->samples) * row->mean * row->mean;
	const double freedom = dispersion->freedom + row->freedom;

	row->variance = (dispersion->freedom * usual + row->freedom * row->variance) / freedom;
	row->freedom = freedom;
}
