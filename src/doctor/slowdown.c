#include "doctor/slowdown.h"

#include <math.h>

/* Student's t for 95 %, two-sided, by degrees of freedom from 1 on. */
static double student(size_t freedom)
{
	static const double values[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};
	const size_t known = sizeof values / sizeof *values;

	return freedom <= known ? values[freedom - 1] : 1.96 + 2.5 / (double)freedom;
}

bool slowdown_of_pairs(const double *without, const double *with, size_t pairs,
		       struct slowdown *out)
{
	double sum = 0, squares = 0;

	if (pairs < 3)
		return false;
	for (size_t i = 0; i < pairs; i++) {
		if (!(without[i] > 0) || !(with[i] > 0))
			return false;
		sum += log(with[i] / without[i]);
	}
	const double mean = sum / (double)pairs;

	for (size_t i = 0; i < pairs; i++) {
		const double off = log(with[i] / without[i]) - mean;

		squares += off * off;
	}
	const double error = sqrt(squares / (double)(pairs - 1) / (double)pairs);
	const double half = student(pairs - 1) * error;

	*out = (struct slowdown){
		.ratio = exp(mean),
		.low = exp(mean - half),
		.high = exp(mean + half),
		.pairs = pairs,
	};
	return true;
}
