#include "profile/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/change.h"
#include "profile/common_factor.h"
#include "profile/compare_judge.h"
#include "profile/compare_rows.h"
#include "profile/dispersion.h"
#include "profile/profile.h"
#include "profile/statistics.h"

#define POWER_80 0.8416 /* of the normal distribution: detected in four of five */

/*
 * A row's time in each run, with the variance of its samples: over several runs that of
 * counting; within one that of its interval, which allows for repeated samples.
 */
static struct side_runs side_of_row(const struct compare_rows *rows, const struct matched *row,
				    int side, bool is_total, bool is_over_runs)
{
	const size_t count = rows->runs[side];
	CLEANUP(freep) double *values = xzalloc((count + 1) * sizeof *values);
	CLEANUP(freep) double *variances = xzalloc((count + 1) * sizeof *variances);
	double samples = 0;

	for (size_t i = 0; row->sides[side].runs && i < count; i++) {
		const struct run_cost *cost = &row->sides[side].runs[i];
		const double met = is_total ? cost->total_samples : cost->samples;

		values[i] = is_total ? cost->total_ns : cost->self_ns;
		variances[i] = is_over_runs && met > 0 ? values[i] * values[i] / met
			       : is_total              ? cost->total_variance
						       : cost->self_variance;
		samples += met / (double)count;
	}
	struct side_runs found = side_runs_of(values, variances, count);

	found.runs.samples = samples;
	return found;
}

static struct change change_of_row(struct side_runs sides[2],
				   const struct comparison *comparison)
{
	/* A side without samples may still have time that chance missed: give it a variance. */
	for (int side = 0; side < 2; side++)
		if (sides[side].runs.mean == 0)
			sides[side].within = fmax(sides[side].within, sides[!side].within / 4);
	const struct t_test test =
		t_test_of(sides, comparison->is_over_runs, comparison->common.error);

	return change_of_sides(sides, &test);
}

/* The sum over all runs of a side. */
static struct run_cost sum_over_runs(const struct compare_rows *rows, const struct matched *row,
				     int side)
{
	struct run_cost sum = { 0 };

	for (size_t i = 0; row->sides[side].runs && i < rows->runs[side]; i++) {
		sum.calls += row->sides[side].runs[i].calls;
		sum.samples += row->sides[side].runs[i].samples;
		sum.total_samples += row->sides[side].runs[i].total_samples;
	}
	return sum;
}

/* Fitted to self times; total times overlap, so they repeat the same information. */
static struct dispersion dispersion_of_rows(const struct compare_rows *rows)
{
	CLEANUP(freep)
	struct row_spread *sides = xzalloc((2 * rows->count + 1) * sizeof *sides);

	for (size_t i = 0; i < 2 * rows->count; i++)
		sides[i] = side_of_row(rows, &rows->rows[i / 2], i % 2, false, true).runs;
	return dispersion_of(sides, 2 * rows->count);
}

static struct compared compared_of(const struct compare_terms *terms,
				   const struct compare_rows *rows, const struct matched *row,
				   const struct dispersion *dispersion,
				   const struct comparison *comparison)
{
	const bool is_over_runs = comparison->is_over_runs;
	const int side = row->sides[1].group ? 1 : 0;
	const struct group *group = row->sides[side].group, *former = row->sides[0].group;
	const struct module *module =
		profile_get_module(terms->profiles[side][0], group->module);
	const struct run_cost sums[] = { sum_over_runs(rows, row, 0),
					 sum_over_runs(rows, row, 1) };
	struct side_runs self[2], total[2];

	for (int i = 0; i < 2; i++) {
		self[i] = side_of_row(rows, row, i, false, is_over_runs);
		total[i] = side_of_row(rows, row, i, true, is_over_runs);
		dispersion_moderate(dispersion, &self[i].runs);
	}
	struct compared compared = {
		.name = group->name,
		.file = group->file,
		.line = group->line,
		.module = module ? module->path : NULL,
		.self = change_of_row(self, comparison),
		.total = change_of_row(total, comparison),
		.samples = sums[0].samples + sums[1].samples,
		.total_samples = sums[0].total_samples + sums[1].total_samples,
		.calls_before = sums[0].calls / (double)rows->runs[0],
		.calls_after = sums[1].calls / (double)rows->runs[1],
	};

	if (former && side == 1 && terms->by == GROUP_BY_FUNCTION &&
	    strcmp(former->name, group->name) != 0)
		compared.former_name = former->name;
	return compared;
}

static void judge_whole(struct comparison *comparison, struct compare_rows *rows)
{
	struct side_runs sides[2];
	const size_t most = rows->runs[0] > rows->runs[1] ? rows->runs[0] : rows->runs[1];
	CLEANUP(freep) double *exact = xzalloc((most + 1) * sizeof *exact);

	for (int side = 0; side < 2; side++)
		sides[side] = side_runs_of(rows->wholes[side], exact, rows->runs[side]);
	const struct t_test test = t_test_of(sides, comparison->is_over_runs, 0);

	comparison->whole = change_of_sides(sides, &test);
	if (comparison->is_over_runs) {
		comparison->least_seen_ns =
			(statistics_t_95(test.freedom) + POWER_80) * test.error;
		comparison->whole.verdict =
			verdict_of(&comparison->whole, SIGNIFICANCE, comparison->margin);
	} else {
		/*
		 * The variation between runs is unknown: a difference within the margin is no
		 * change.
		 */
		const double share = change_share(&comparison->whole);

		comparison->whole.verdict = share > comparison->margin    ? VERDICT_SLOWER
					    : share < -comparison->margin ? VERDICT_FASTER
									  : VERDICT_UNCHANGED;
	}
	if (comparison->is_over_runs && !comparison->is_trace &&
	    comparison->whole.p_value > SIGNIFICANCE && comparison->whole.before_ns > 0)
		common_factor_take(rows, test.error / comparison->whole.before_ns,
				   &comparison->common);
}

static int rank_of(const struct compared *row)
{
	return row->self.verdict == VERDICT_CANNOT_TELL ? 1
	       : row->self.verdict == VERDICT_UNCHANGED ? 2
							: 0;
}

static int compare_rows_by_change(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;
	const double dx = fabs(x->self.after_ns - x->self.before_ns);
	const double dy = fabs(y->self.after_ns - y->self.before_ns);

	if (rank_of(x) != rank_of(y))
		return rank_of(x) < rank_of(y) ? -1 : 1;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return strcmp(x->name, y->name);
}

void comparison_make(const struct compare_terms *terms, struct comparison *out)
{
	struct compare_rows rows;

	compare_rows_make(terms, &rows);
	*out = (struct comparison){
		.rows = xzalloc((rows.count + 1) * sizeof *out->rows),
		.count = rows.count,
		.runs = { rows.runs[0], rows.runs[1] },
		.is_over_runs = rows.runs[0] > 1 && rows.runs[1] > 1,
		.is_trace = profile_is_trace(terms->profiles[0][0]),
		.margin = terms->margin,
	};
	judge_whole(out, &rows);
	const struct dispersion dispersion = out->is_over_runs && !out->is_trace
						     ? dispersion_of_rows(&rows)
						     : (struct dispersion){ 0 };

	for (size_t i = 0; i < rows.count; i++)
		out->rows[i] = compared_of(terms, &rows, &rows.rows[i], &dispersion, out);
	judge_rows(out, false);
	judge_rows(out, true);
	qsort(out->rows, out->count, sizeof *out->rows, compare_rows_by_change);
	compare_rows_done(&rows);
}

void comparison_done(struct comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct comparison){ 0 };
}
