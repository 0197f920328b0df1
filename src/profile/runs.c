#include "profile/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/compare.h"

#define P_VALUE_CLEAR 0.001
/* Student's t at 99.9 % relative to that at 95 %, with eight degrees of freedom. */
#define WIDER_CLEAR 2.2
/*
 * Factor from the median absolute deviation to the standard deviation of a normal distribution.
 */
#define DEVIATION     1.4826
#define OUTLIER       5.0
#define OUTLIER_SHARE 0.01

static int compare_times(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double runs_median(const double *times, size_t count)
{
	if (count == 0)
		return 0;
	CLEANUP(freep) double *sorted = xreallocarray(NULL, count, sizeof *sorted);

	memcpy(sorted, times, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_times);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

size_t runs_nearest_to_median(const double *times, size_t count)
{
	const double median = runs_median(times, count);
	size_t nearest = 0;

	for (size_t i = 1; i < count; i++)
		if (fabs(times[i] - median) < fabs(times[nearest] - median))
			nearest = i;
	return nearest;
}

bool runs_is_outlier(const double *times, size_t count, double time)
{
	if (count < RUNS_LEAST)
		return false;
	const double median = runs_median(times, count);
	CLEANUP(freep) double *distances = xreallocarray(NULL, count, sizeof *distances);

	for (size_t i = 0; i < count; i++)
		distances[i] = fabs(times[i] - median);
	const double usual = DEVIATION * runs_median(distances, count);

	return fabs(time - median) > fmax(OUTLIER * usual, OUTLIER_SHARE * median);
}

bool runs_are_enough(const struct change *change, double margin)
{
	const double middle = (change->low_ns + change->high_ns) / 2;
	const double off = WIDER_CLEAR * (change->high_ns - change->low_ns) / 2;

	return change->p_value < P_VALUE_CLEAR ||
	       fabs(middle) + off <= margin * change->before_ns;
}
