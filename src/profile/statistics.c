#include "profile/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define Z_95 1.959963984540054

/* The expansion of Cornish and Fisher around the normal distribution; within 1 % from 3 on. */
double statistics_t_95(double freedom)
{
	static const double few[] = { 12.706, 4.303, 3.182 };
	const double z = Z_95, n = freedom;

	if (n < 3.5)
		return few[n < 1.5 ? 0 : n < 2.5 ? 1 : 2];
	return z + (pow(z, 3) + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * n * n * n);
}

/* The continued fraction of the incomplete beta function, by Lentz' method. */
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

double statistics_t_chance(double t, double freedom)
{
	if (isnan(t) || isinf(t))
		return isnan(t) ? 1 : 0;
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double statistics_normal_chance(double z)
{
	return isnan(z) ? 1 : erfc(fabs(z) / sqrt(2));
}

struct range statistics_share(double hits, double count)
{
	const double z2 = Z_95 * Z_95;

	if (count <= 0)
		return (struct range){ 0, 1 };
	const double share = hits < count ? hits / count : 1;
	const double middle = (share + z2 / (2 * count)) / (1 + z2 / count);
	const double half = Z_95 / (1 + z2 / count) *
			    sqrt(share * (1 - share) / count + z2 / (4 * count * count));
	struct range range = { middle - half, middle + half };

	range.low = hits <= 0 || range.low < 0 ? 0 : range.low;
	range.high = share >= 1 || range.high > 1 ? 1 : range.high;
	return range;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double statistics_discoveries(const double *chances, size_t count, double rate)
{
	CLEANUP(freep) double *sorted = xreallocarray(NULL, count + 1, sizeof *sorted);
	double last = -1;

	memcpy(sorted, chances, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_doubles);
	for (size_t i = 0; i < count; i++)
		if (sorted[i] <= rate * (double)(i + 1) / (double)count)
			last = sorted[i];
	return last;
}
