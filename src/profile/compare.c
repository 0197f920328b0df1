#include "profile/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/compare_rows.h"
#include "profile/profile.h"
#include "profile/statistics.h"

enum {
	SAMPLES_LEAST = 10
}; /* of all runs: with fewer nothing is decided, and nothing is tested */

#define RATE     0.05
#define POWER_80 0.8416 /* of the normal distribution: seen in four of five */

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

/* Of the runs of one side. */
struct side {
	double mean, variance; /* of one run */
	double within;         /* of its samples alone */
	size_t count;
};

static struct side side_of(const double *values, const double *variances, size_t count)
{
	struct side side = { .count = count };

	for (size_t i = 0; i < count; i++) {
		side.mean += values[i] / (double)count;
		side.within += variances[i] / (double)count;
	}
	for (size_t i = 0; i < count && count > 1; i++)
		side.variance +=
			(values[i] - side.mean) * (values[i] - side.mean) / (double)(count - 1);
	return side;
}

/* Runs that happen to agree to the nanosecond do not say that all would. */
static double variance_over_runs(const struct side *side)
{
	return fmax(side->variance, side->within / 4) / (double)side->count;
}

struct test {
	double error; /* of the difference of the means */
	double freedom;
};

static struct test test_of(const struct side sides[2], bool is_over_runs)
{
	double parts[2];

	for (int i = 0; i < 2; i++)
		parts[i] = is_over_runs ? variance_over_runs(&sides[i])
					: sides[i].within / (double)sides[i].count;
	const double sum = parts[0] + parts[1];
	struct test test = { sqrt(sum), 1e6 };

	if (is_over_runs && sum > 0)
		test.freedom = sum * sum /
			       (parts[0] * parts[0] / (double)(sides[0].count - 1) +
				parts[1] * parts[1] / (double)(sides[1].count - 1));
	return test;
}

static struct change change_of(const struct side sides[2], bool is_over_runs)
{
	const struct test test = test_of(sides, is_over_runs);
	const double difference = sides[1].mean - sides[0].mean;
	const double off = statistics_t_95(test.freedom) * test.error;

	return (struct change){
		.before_ns = sides[0].mean,
		.after_ns = sides[1].mean,
		.low_ns = difference - off,
		.high_ns = difference + off,
		.chance = test.error > 0
				  ? statistics_t_chance(difference / test.error, test.freedom)
			  : difference == 0 ? 1
					    : 0,
	};
}

static enum verdict verdict_of(const struct change *change, double chosen, double margin)
{
	const double difference = change->after_ns - change->before_ns;

	/* Rounding must not lose the one that was chosen last. */
	if (change->chance <= chosen * (1 + 1e-9) && difference != 0) {
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

/* Its time in each run, and how sure each is. */
static struct side side_of_row(const struct compare_rows *rows, const struct matched *row,
			       int side, bool is_total)
{
	const size_t count = rows->runs[side];
	CLEANUP(freep) double *values = xzalloc((count + 1) * sizeof *values);
	CLEANUP(freep) double *variances = xzalloc((count + 1) * sizeof *variances);

	for (size_t i = 0; row->sides[side].runs && i < count; i++) {
		const struct run_cost *cost = &row->sides[side].runs[i];

		values[i] = is_total ? cost->total_ns : cost->self_ns;
		variances[i] = is_total ? cost->total_variance : cost->self_variance;
	}
	return side_of(values, variances, count);
}

static struct change change_of_row(const struct compare_rows *rows, const struct matched *row,
				   bool is_total, bool is_over_runs)
{
	struct side sides[2];

	for (int side = 0; side < 2; side++)
		sides[side] = side_of_row(rows, row, side, is_total);
	/* What was not met may have some: as much as is missed by chance. */
	for (int side = 0; side < 2; side++)
		if (sides[side].mean == 0)
			sides[side].within = fmax(sides[side].within, sides[!side].within / 4);
	return change_of(sides, is_over_runs);
}

/* All runs of a side together. */
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

static struct compared compared_of(const struct compare_terms *terms,
				   const struct compare_rows *rows, const struct matched *row,
				   bool is_over_runs)
{
	const int side = row->sides[1].group ? 1 : 0;
	const struct group *group = row->sides[side].group, *former = row->sides[0].group;
	const struct module *module =
		profile_get_module(terms->profiles[side][0], group->module);
	const struct run_cost sums[] = { sum_over_runs(rows, row, 0),
					 sum_over_runs(rows, row, 1) };
	struct compared compared = {
		.name = group->name,
		.file = group->file,
		.line = group->line,
		.module = module ? module->path : NULL,
		.self = change_of_row(rows, row, false, is_over_runs),
		.total = change_of_row(rows, row, true, is_over_runs),
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
 * How much a row counts among those that are tested: half of all for its share of the time on both
 * sides, which says nothing of how they differ, so that what matters is found rather than what is
 * next to nothing (weighted Benjamini and Hochberg: Genovese, Roeder and Wasserman 2006).
 */
static double importance_of(const struct compared *row, bool is_total, double all,
			    size_t tested)
{
	return 0.5 + 0.5 * time_of(row, is_total) / all * (double)tested;
}

static void judge(struct comparison *comparison, bool is_total)
{
	CLEANUP(freep)
	double *chances = xreallocarray(NULL, comparison->count + 1, sizeof *chances);
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
			chances[at++] = (is_total ? row->total.chance : row->self.chance) /
					importance_of(row, is_total, all, tested);
	}
	const double chosen = statistics_discoveries(chances, tested, RATE);

	for (size_t i = 0; i < comparison->count; i++) {
		struct compared *row = &comparison->rows[i];
		struct change *change = is_total ? &row->total : &row->self;

		if (is_tested(comparison, row, is_total))
			change->verdict = verdict_of(
				change, chosen * importance_of(row, is_total, all, tested),
				comparison->margin);
		if (!is_total)
			comparison->counts[change->verdict]++;
	}
}

static void judge_whole(struct comparison *comparison, const struct compare_rows *rows)
{
	struct side sides[2];
	const size_t most = rows->runs[0] > rows->runs[1] ? rows->runs[0] : rows->runs[1];
	CLEANUP(freep) double *exact = xzalloc((most + 1) * sizeof *exact);

	for (int side = 0; side < 2; side++)
		sides[side] = side_of(rows->wholes[side], exact, rows->runs[side]);
	comparison->whole = change_of(sides, comparison->is_over_runs);
	if (comparison->is_over_runs) {
		const struct test test = test_of(sides, true);

		comparison->least_seen_ns =
			(statistics_t_95(test.freedom) + POWER_80) * test.error;
		comparison->whole.verdict =
			verdict_of(&comparison->whole, RATE, comparison->margin);
	} else {
		/* How much runs differ is not known: what is within the margin is nothing. */
		const double share = change_share(&comparison->whole);

		comparison->whole.verdict = share > comparison->margin    ? VERDICT_SLOWER
					    : share < -comparison->margin ? VERDICT_FASTER
									  : VERDICT_UNCHANGED;
	}
}

struct change change_over_runs(const double *const times[2], const size_t counts[2],
			       double margin)
{
	const size_t most = counts[0] > counts[1] ? counts[0] : counts[1];
	CLEANUP(freep) double *exact = xzalloc((most + 1) * sizeof *exact);
	const struct side sides[2] = { side_of(times[0], exact, counts[0]),
				       side_of(times[1], exact, counts[1]) };
	struct change change = change_of(sides, true);

	change.verdict = verdict_of(&change, RATE, margin);
	return change;
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
	for (size_t i = 0; i < rows.count; i++)
		out->rows[i] = compared_of(terms, &rows, &rows.rows[i], out->is_over_runs);
	judge(out, false);
	judge(out, true);
	judge_whole(out, &rows);
	qsort(out->rows, out->count, sizeof *out->rows, compare_rows_by_change);
	compare_rows_done(&rows);
}

void comparison_done(struct comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct comparison){ 0 };
}
