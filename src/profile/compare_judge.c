#include "profile/compare_judge.h"

#include "base/memory.h"
#include "profile/comparison.h"
#include "profile/statistics.h"

enum { SAMPLES_LEAST = 10 }; /* of all runs: rows with fewer are not tested */

/*
 * The false discovery rate.  Half of the 5 % that is promised of a comparison: where one row did
 * change, the limit of the next one is twice as high.
 */
#define FALSE_DISCOVERY_RATE 0.025
/* The part of it that is given out by the rows' shares of the time, the rest evenly. */
#define WEIGHTED 0.8

/* Whether a verdict on it means something: then it is one of those tested. */
static bool is_tested(const struct comparison *comparison, const struct compared *row,
		      bool is_total)
{
	const struct change *change = is_total ? &row->total : &row->self;

	if (change->before_ns == 0 && change->after_ns == 0)
		return false;
	if (comparison->is_trace)
		return true;
	const double samples = is_total ? row->total_samples : row->samples;

	/* Times in brackets are exact, but of that run only. */
	return samples >= SAMPLES_LEAST || (samples == 0 && comparison->is_over_runs);
}

static double time_of(const struct compared *row, bool is_total)
{
	const struct change *change = is_total ? &row->total : &row->self;

	return change->before_ns + change->after_ns;
}

/*
 * The weight of a row among those that are tested: mostly by its share of the time on both
 * sides, which says nothing of how they differ, so that what matters is found rather than what is
 * next to nothing (weighted Benjamini and Hochberg: Genovese, Roeder and Wasserman 2006).
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
	/* What was taken out of all may be a change of all. */
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
