#include "profile/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define Z_95 1.959963984540054

enum { RARE = 20 }; /* a share below 1/RARE counts as a Poisson variable */

/*
 * Student's t quantile: Cornish-Fisher expansion around the normal distribution; within 1 %
 * from 3 degrees on.
 */
double statistics_t_95(double freedom)
{
	static const double few[] = { 12.706, 4.303, 3.182 };
	const double z = Z_95, n = freedom;

	if (isinf(n))
		return z;
	if (n < 3.5)
		return few[n < 1.5 ? 0 : n < 2.5 ? 1 : 2];
	return z + (pow(z, 3) + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * n * n * n);
}

double statistics_widened(double variance, double freedom)
{
	const double wider = statistics_t_95(freedom) / Z_95;

	return variance * wider * wider;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);

	d = 1 / (fabs(d) < tiny ? tiny : d);
	double value = d;

	for (int m = 1; m < 300; m++) {
		const double terms[] = {
			m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
			-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
		};
		double change = 1;

		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + terms[i] / c;
			c = fabs(c) < tiny ? tiny : c;
			change = c * d;
			value *= change;
		}
		if (fabs(change - 1) < 1e-12)
			break;
	}
	return value;
}

static double incomplete_beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	const double front =
		exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_t_p_value(double t, double freedom)
{
	if (isnan(t) || isinf(t))
		return isnan(t) ? 1 : 0;
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/*
 * The exact 95 % interval of a Poisson variable's mean, by the number seen. The lower bound is
 * conditional on at least one seen, which is true of all rows shown: with that mean, this
 * number or more is seen once in forty times.
 */
static const struct range few_means[] = {
	{ 0, 3.689 },       { 0, 5.572 },      { 0.050, 7.225 },   { 0.408, 8.767 },
	{ 0.933, 10.242 },  { 1.520, 11.668 }, { 2.137, 13.059 },  { 2.776, 14.423 },
	{ 3.432, 15.763 },  { 4.103, 17.085 }, { 4.789, 18.390 },  { 5.488, 19.682 },
	{ 6.199, 20.962 },  { 6.921, 22.230 }, { 7.653, 23.490 },  { 8.395, 24.740 },
	{ 9.145, 25.983 },  { 9.903, 27.219 }, { 10.668, 28.448 }, { 11.439, 29.671 },
	{ 12.217, 30.888 },
};

enum { MEANS_MOST = sizeof few_means / sizeof *few_means - 1 };

static struct range few_of_many(double hits, double count)
{
	const size_t whole = (size_t)hits;
	const double part = hits - (double)whole;
	const struct range *mean = &few_means[whole];

	return (struct range){
		(mean[0].low + part * (mean[1].low - mean[0].low)) / count,
		(mean[0].high + part * (mean[1].high - mean[0].high)) / count,
	};
}

static struct range wilson(double hits, double count)
{
	const double z2 = Z_95 * Z_95;
	const double share = hits / count;
	const double middle = (share + z2 / (2 * count)) / (1 + z2 / count);
	const double half = Z_95 / (1 + z2 / count) *
			    sqrt(share * (1 - share) / count + z2 / (4 * count * count));

	return (struct range){ middle - half, middle + half };
}

struct range statistics_share(double hits, double count)
{
	if (count <= 0)
		return (struct range){ 0, 1 };
	if (hits * 2 > count) {
		const struct range others = statistics_share(fmax(count - hits, 0), count);

		return (struct range){ 1 - others.high, 1 - others.low };
	}
	const bool is_rare = hits < MEANS_MOST && hits * RARE < count;
	struct range range = is_rare ? few_of_many(hits, count) : wilson(hits, count);

	range.low = hits <= 0 || range.low < 0 ? 0 : range.low;
	range.high = fmin(range.high, 1);
	return range;
}

double statistics_digamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum -= 1 / x;
	const double square = 1 / (x * x);

	return sum + log(x) - 1 / (2 * x) -
	       square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

double statistics_trigamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum += 1 / (x * x);
	const double square = 1 / (x * x);

	return sum + 1 / x + square / 2 +
	       square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double statistics_discoveries(const double *p_values, size_t count, double rate)
{
	CLEANUP(freep) double *sorted = xreallocarray(NULL, count + 1, sizeof *sorted);
	double last = -1;

	memcpy(sorted, p_values, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_doubles);
	for (size_t i = 0; i < count; i++)
		if (sorted[i] <= rate * (double)(i + 1) / (double)count)
			last = sorted[i];
	return last;
}
