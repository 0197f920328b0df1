#include "profile/change.h"

#include <math.h>

#include "base/memory.h"
#include "profile/statistics.h"

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICT_COUNT] = {
		[VERDICT_CANNOT_TELL] = "cannot_tell",
		[VERDICT_SLOWER] = "slower",
		[VERDICT_FASTER] = "faster",
		[VERDICT_UNCHANGED] = "unchanged",
		[VERDICT_NEW] = "new",
		[VERDICT_GONE] = "gone",
	};

	return names[verdict];
}

double change_share(const struct change *change)
{
	return change->before_ns > 0
		       ? (change->after_ns - change->before_ns) / change->before_ns
	       : change->after_ns > 0 ? INFINITY
				      : 0;
}

enum limit_outcome change_check_limit(const struct change *change, double limit,
				      size_t limit_count)
{
	const double half_width = change->before_ns > 0 ? (change->high_ns - change->low_ns) /
								  2 / change->before_ns
							: 0;

	if (change_share(change) > limit)
		return change->p_value <= SIGNIFICANCE / (double)limit_count ? LIMIT_PASSED
									     : LIMIT_UNDECIDED;
	return half_width > limit ? LIMIT_UNDECIDED : LIMIT_KEPT;
}

enum verdict verdict_of(const struct change *change, double p_value_most, double margin)
{
	const double difference = change->after_ns - change->before_ns;

	/* The tolerance keeps rounding from excluding the p-value chosen as the limit. */
	if (change->p_value <= p_value_most * (1 + 1e-9) && difference != 0) {
		if (change->before_ns == 0)
			return VERDICT_NEW;
		if (change->after_ns == 0)
			return VERDICT_GONE;
		return difference > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
	}
	if (change->before_ns > 0 && change->low_ns >= -margin * change->before_ns &&
	    change->high_ns <= margin * change->before_ns)
		return VERDICT_UNCHANGED;
	return VERDICT_CANNOT_TELL;
}

struct side_runs side_runs_of(const double *values, const double *variances, size_t count)
{
	struct side_runs side = { .count = count, .runs.freedom = (double)count - 1 };

	for (size_t i = 0; i < count; i++) {
		side.runs.mean += values[i] / (double)count;
		side.within += variances[i] / (double)count;
	}
	for (size_t i = 0; i < count && count > 1; i++)
		side.runs.variance += (values[i] - side.runs.mean) *
				      (values[i] - side.runs.mean) / (double)(count - 1);
	return side;
}

/* Runs that happen to agree to the nanosecond do not prove that all runs would. */
static double variance_over_runs(const struct side_runs *side)
{
	return fmax(side->runs.variance, side->within / 4) / (double)side->count;
}

struct t_test t_test_of(const struct side_runs sides[2], bool is_over_runs, double common_error)
{
	double parts[2];

	for (int i = 0; i < 2; i++)
		parts[i] = is_over_runs ? variance_over_runs(&sides[i])
					: sides[i].within / (double)sides[i].count;
	const double sum = parts[0] + parts[1];
	struct t_test test = { sqrt(sum), 1e6 };

	if (is_over_runs && sum > 0)
		test.freedom = sum * sum /
			       (parts[0] * parts[0] / sides[0].runs.freedom +
				parts[1] * parts[1] / sides[1].runs.freedom);
	test.error =
		hypot(test.error, common_error * (sides[0].runs.mean + sides[1].runs.mean) / 2);
	return test;
}

struct change change_of_sides(const struct side_runs sides[2], const struct t_test *test)
{
	const double difference = sides[1].runs.mean - sides[0].runs.mean;
	const double off = statistics_t_95(test->freedom) * test->error;

	return (struct change){
		.before_ns = sides[0].runs.mean,
		.after_ns = sides[1].runs.mean,
		.low_ns = difference - off,
		.high_ns = difference + off,
		.p_value = test->error > 0   ? statistics_t_p_value(difference / test->error,
								    test->freedom)
			   : difference == 0 ? 1
					     : 0,
	};
}

struct change change_over_runs(const double *const times[2], const size_t counts[2],
			       double margin)
{
	const size_t most = counts[0] > counts[1] ? counts[0] : counts[1];
	CLEANUP(freep) double *exact = xzalloc((most + 1) * sizeof *exact);
	const struct side_runs sides[2] = { side_runs_of(times[0], exact, counts[0]),
					    side_runs_of(times[1], exact, counts[1]) };
	const struct t_test test = t_test_of(sides, true, 0);
	struct change change = change_of_sides(sides, &test);

	change.verdict = verdict_of(&change, SIGNIFICANCE, margin);
	return change;
}
