#include "profile/compare_judge.h"

#include "base/memory.h"
#include "profile/comparison.h"
#include "profile/statistics.h"

enum { SAMPLES_LEAST = 10 }; /* in all runs: rows with fewer are not tested */

/*
 * The false discovery rate: half of the 5 % promised for a comparison, as after one row that
 * did change the limit for the next is twice as high.
 */
#define FALSE_DISCOVERY_RATE 0.025
/*
 * The part of the rate that is distributed by the rows' shares of the time; the rest is
 * distributed evenly.
 */
#define WEIGHTED 0.8

/* Whether the row is one of those tested: a verdict on it has a meaning. */
static bool is_tested(const struct comparison *comparison, const struct compared *row,
		      bool is_total)
{
	const struct change *change = is_total ? &row->total : &row->self;

	if (change->before_ns == 0 && change->after_ns == 0)
		return false;
	if (comparison->is_trace)
		return true;
	const double samples = is_total ? row->total_samples : row->samples;

	/* Bracketed rows ([exit]) have exact times, but each is of one run only. */
	return samples >= SAMPLES_LEAST || (samples == 0 && comparison->is_over_runs);
}

static double time_of(const struct compared *row, bool is_total)
{
	const struct change *change = is_total ? &row->total : &row->self;

	return change->before_ns + change->after_ns;
}

/*
 * The row's weight in the test, mostly its share of the time on both sides, which is
 * independent of their difference: large changes are more likely to be detected than negligible
 * ones (weighted Benjamini and Hochberg: Genovese, Roeder and Wasserman 2006).
 */
static double weight_of(const struct compared *row, bool is_total, double all, size_t tested)
{
	return 1 - WEIGHTED + WEIGHTED * time_of(row, is_total) / all * (double)tested;
}

void judge_rows(struct comparison *comparison, bool is_total)
{
	CLEANUP(freep)
	double *p_values = xreallocarray(NULL, comparison->count + 1, sizeof *p_values);
	size_t tested = 0, at = 0;
	double all = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		if (!is_tested(comparison, &comparison->rows[i], is_total))
			continue;
		all += time_of(&comparison->rows[i], is_total);
		tested++;
	}
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *row = &comparison->rows[i];

		if (is_tested(comparison, row, is_total))
			p_values[at++] = (is_total ? row->total.p_value : row->self.p_value) /
					 weight_of(row, is_total, all, tested);
	}
	const double chosen = statistics_discoveries(p_values, tested, FALSE_DISCOVERY_RATE);
	/* The common factor that was taken out may have been a real change of all rows. */
	const double margin = comparison->margin - comparison->common.most;

	for (size_t i = 0; i < comparison->count; i++) {
		struct compared *row = &comparison->rows[i];
		struct change *change = is_total ? &row->total : &row->self;

		if (is_tested(comparison, row, is_total))
			change->verdict = verdict_of(
				change, chosen * weight_of(row, is_total, all, tested), margin);
		if (!is_total)
			comparison->counts[change->verdict]++;
	}
}
