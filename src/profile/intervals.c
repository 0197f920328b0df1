/*
 * Computes the intervals of rows. Slots of time, and of threads, are summed over the tree in
 * blocks of eight, so that besides the rows only 32 bytes a place are needed. Only the larger
 * rows' slots are kept: a row below one sample in a thousand repeats its samples as all rows
 * do, or has hardly any.
 */
#include "profile/intervals.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/sequence.h"
#include "profile/profile.h"
#include "profile/autocorrelation.h"
#include "profile/change_points.h"
#include "profile/statistics.h"
#include "profile/thread_slots.h"
#include "profile/thread_turns.h"

enum { BLOCK = 8, KEPT_ROWS = 4096, NOT_KEPT = -1 };
enum axis { BY_TIME, IN_TURN, AXES }; /* IN_TURN: slots of time of one thread after another */

/* Of a place or a row: sampled time, and time known exactly. */
struct sums {
	double ns, squares; /* of samples; and the same, each times its weight */
	double exact_ns;
};

struct series {
	float self[AXES][SERIES_SLOTS], total[AXES][SERIES_SLOTS];
};

struct finding {
	const struct interval_terms *terms;
	bool *is_outermost;        /* by place: of its row */
	struct sums *of_place;     /* by place, with those below it */
	struct sums *self, *total; /* by row */
	struct sums whole;
	int32_t *kept; /* by row: its index in series, or NOT_KEPT */
	struct series *series;
	float whole_series[AXES][SERIES_SLOTS];
	bool has_series;
	struct thread_slots threads;
};

static uint32_t place_of(const struct interval_terms *terms, const struct weight *weight)
{
	if (terms->place_of_thread)
		return terms->place_of_thread[weight->thread.n];
	return terms->place_of_stack ? terms->place_of_stack[weight->stack.n] : weight->stack.n;
}

static uint32_t row_of(const struct interval_terms *terms, uint32_t place)
{
	return terms->rows ? terms->rows[place] : place;
}

static void add_sums(struct sums *sum, const struct sums *more)
{
	sum->ns += more->ns;
	sum->squares += more->squares;
	sum->exact_ns += more->exact_ns;
}

/* A place is outermost if no place above it has its row: tracked by a count per row. */
struct tree {
	uint32_t *first_child, *next_sibling;
};

static uint32_t next_place(const struct finding *finding, const struct tree *tree, uint32_t at,
			   uint32_t *on_path)
{
	const struct interval_terms *terms = finding->terms;

	if (tree->first_child[at])
		return tree->first_child[at];
	while (at) {
		on_path[row_of(terms, at)]--;
		if (tree->next_sibling[at])
			return tree->next_sibling[at];
		at = terms->parents[at];
	}
	return 0;
}

static void find_outermost(struct finding *finding)
{
	const struct interval_terms *terms = finding->terms;
	const size_t count = terms->place_count;
	struct tree tree = { xzalloc(count * sizeof(uint32_t)),
			     xzalloc(count * sizeof(uint32_t)) };
	CLEANUP(freep)
	uint32_t *on_path = xzalloc((terms->row_count + 1) * sizeof *on_path);

	for (uint32_t i = (uint32_t)count; i-- > 1;) {
		tree.next_sibling[i] = tree.first_child[terms->parents[i]];
		tree.first_child[terms->parents[i]] = i;
	}
	for (uint32_t at = tree.first_child[0]; at;
	     at = next_place(finding, &tree, at, on_path))
		finding->is_outermost[at] = on_path[row_of(terms, at)]++ == 0;
	free(tree.first_child);
	free(tree.next_sibling);
}

/*
 * Only a tick of a wait is uncertain, namely whether a tick saw it: the rest of its length is
 * exact.
 */
static struct sums sums_of(double tick_ns, const struct weight *weight)
{
	const double ns = (double)weight->ns;
	const double samples = (double)weight->samples;
	const double sampled =
		weight->state > THREAD_STATE_RUNNABLE ? fmin(ns, samples * tick_ns) : ns;

	if (samples == 0)
		return (struct sums){ 0, 0, ns };
	return (struct sums){ sampled, sampled * sampled / samples, ns - sampled };
}

static void add_weights(struct finding *finding)
{
	const struct interval_terms *terms = finding->terms;
	const double tick_ns = profile_tick_ns(terms->profile);

	for (size_t i = 0; i < profile_weight_count(terms->profile); i++) {
		const struct weight *weight = profile_get_weight(terms->profile, i);
		const uint32_t place = place_of(terms, weight);

		if (!filter_keeps(terms->filter, weight))
			continue;
		const struct sums sums = sums_of(tick_ns, weight);

		add_sums(&finding->whole, &sums);
		if (!place)
			continue;
		add_sums(&finding->of_place[place], &sums);
		add_sums(&finding->self[row_of(terms, place)], &sums);
	}
	for (size_t i = terms->place_count; i-- > 1;) {
		if (finding->is_outermost[i])
			add_sums(&finding->total[row_of(terms, (uint32_t)i)],
				 &finding->of_place[i]);
		add_sums(&finding->of_place[terms->parents[i]], &finding->of_place[i]);
	}
}

/* Chooses the largest rows by total: doubles the threshold until few enough reach it. */
static void keep_rows(struct finding *finding)
{
	const size_t rows = finding->terms->row_count;
	double least = 0;
	size_t kept = 0, above = rows;

	for (double part = 1e-6; above > KEPT_ROWS; part *= 2) {
		least = part * finding->whole.ns;
		above = 0;
		for (size_t i = 0; i < rows; i++)
			above += finding->total[i].ns >= least;
	}
	for (size_t i = 0; i < rows; i++)
		finding->kept[i] = finding->total[i].ns > 0 && finding->total[i].ns >= least
					   ? (int32_t)kept++
					   : NOT_KEPT;
	finding->series = xzalloc((kept + 1) * sizeof *finding->series);
}

static void add_block(struct finding *finding, enum axis axis, uint32_t first_slot,
		      float *of_place)
{
	const struct interval_terms *terms = finding->terms;

	for (size_t i = terms->place_count; i-- > 1;) {
		const int32_t kept = finding->kept[row_of(terms, (uint32_t)i)];
		float *slots = &of_place[i * BLOCK],
		      *parent = &of_place[terms->parents[i] * BLOCK];
		float *total = kept != NOT_KEPT && finding->is_outermost[i]
				       ? &finding->series[kept].total[axis][first_slot]
				       : NULL;

		for (size_t j = 0; j < BLOCK; j++) {
			parent[j] += slots[j];
			if (total)
				total[j] += slots[j];
		}
	}
}

/* Time in one slot of an axis, if the slot is in the current block. */
struct portion {
	enum axis axis;
	uint32_t slot, first_slot;
	float ns;
};

static void add_portion(struct finding *finding, const struct weight *weight,
			const struct portion *portion, float *of_place)
{
	const struct interval_terms *terms = finding->terms;
	const uint32_t in_block = portion->slot - portion->first_slot;

	if (in_block >= BLOCK || !weight || !filter_keeps(terms->filter, weight))
		return;
	const uint32_t place = place_of(terms, weight);

	finding->whole_series[portion->axis][portion->slot] += portion->ns;
	if (!place)
		return;
	const int32_t kept = finding->kept[row_of(terms, place)];

	of_place[place * BLOCK + in_block] += portion->ns;
	if (kept != NOT_KEPT)
		finding->series[kept].self[portion->axis][portion->slot] += portion->ns;
}

static uint32_t turn_slots(const struct finding *finding)
{
	return finding->threads.count < 2 ? 0 : SERIES_SLOTS / (uint32_t)finding->threads.count;
}

/* Where the series of an axis has a step; NO_SLOT: nowhere. */
static uint32_t slot_of(const struct finding *finding, enum axis axis, const struct step *step,
			const struct weight *weight)
{
	const uint32_t each = turn_slots(finding);
	const uint32_t thread = weight ? finding->threads.of_thread[weight->thread.n] : NO_SLOT;

	if (axis == BY_TIME)
		return step->slot;
	return thread == NO_SLOT ? NO_SLOT : thread * each + step->slot * each / SERIES_SLOTS;
}

static void add_steps(struct finding *finding, enum axis axis, uint32_t first_slot,
		      float *of_place)
{
	const struct profile *profile = finding->terms->profile;
	const struct sequence *sequence = profile_get_sequence(profile);

	for (size_t i = 0; i < sequence->count; i++) {
		const struct step *step = &sequence->rows[i];
		const struct weight *weight = profile_get_weight(profile, step->weight);
		const struct portion portion = { axis, slot_of(finding, axis, step, weight),
						 first_slot, step->ns };

		if (portion.slot != NO_SLOT)
			add_portion(finding, weight, &portion, of_place);
	}
}

static void find_threads(struct finding *finding)
{
	const struct profile *profile = finding->terms->profile;
	CLEANUP(freep)
	double *times = xzalloc((profile_thread_count(profile) + 1) * sizeof *times);

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (filter_keeps(finding->terms->filter, weight))
			times[weight->thread.n] += sums_of(profile_tick_ns(profile), weight).ns;
	}
	thread_slots_find(profile, times, &finding->threads);
}

static void find_series(struct finding *finding)
{
	const size_t size = finding->terms->place_count * BLOCK * sizeof(float);

	if (profile_get_sequence(finding->terms->profile)->count == 0)
		return;
	CLEANUP(freep) float *of_place = xmalloc(size);

	finding->has_series = true;
	find_threads(finding);
	for (enum axis axis = BY_TIME; axis < AXES; axis++)
		for (uint32_t slot = 0; slot < SERIES_SLOTS; slot += BLOCK) {
			if (axis == IN_TURN && turn_slots(finding) == 0)
				break;
			memset(of_place, 0, size);
			add_steps(finding, axis, slot, of_place);
			add_block(finding, axis, slot, of_place);
		}
}

static uint64_t in_ns(double ns)
{
	return ns <= 0 ? 0 : ns < 1.8e19 ? (uint64_t)(ns + 0.5) : UINT64_MAX;
}

/* series is of self or total time, or NULL. */
static struct autocorrelation inflation_of(const struct finding *finding,
					   const float (*series)[SERIES_SLOTS], double weight)
{
	if (!series || !finding->has_series)
		return (struct autocorrelation){ 1, 0 };
	struct row_series in_time = {
		.part = series[BY_TIME],
		.whole = finding->whole_series[BY_TIME],
		.count = SERIES_SLOTS,
		.weight = weight,
	};
	const struct thread_turns turns = {
		.part = series[IN_TURN],
		.whole = finding->whole_series[IN_TURN],
		.groups = finding->threads.groups,
		.threads = finding->threads.count,
		.turn_slots = turn_slots(finding),
	};

	return thread_turns_autocorrelation(&in_time, &turns);
}

static struct interval interval_of(const struct finding *finding, const struct sums *sums,
				   const float (*series)[SERIES_SLOTS], uint64_t samples_ns)
{
	const double all = finding->whole.ns;

	/*
	 * A row without a sample may have had time: chance misses so much once in forty times.
	 */
	if (sums->ns <= 0 && (samples_ns > 0 || all <= 0))
		return (struct interval){ samples_ns, samples_ns, 0 };
	const double weight =
		sums->ns > 0 ? sums->squares / sums->ns : finding->whole.squares / all;
	const struct autocorrelation found = inflation_of(finding, series, weight);
	const double one = weight * found.inflation;
	const struct range range = statistics_share(sums->ns / one, all / one);

	return (struct interval){ in_ns(sums->exact_ns + range.low * all),
				  in_ns(sums->exact_ns + range.high * all), found.phases };
}

static uint64_t time_of(const struct sums *sums)
{
	return in_ns(sums->ns + sums->exact_ns);
}

/* What calls nothing has one interval, not two: many rows are of this kind. */
static bool is_leaf(const struct finding *finding, size_t row, const struct series *series)
{
	return memcmp(&finding->self[row], &finding->total[row], sizeof *finding->self) == 0 &&
	       (!series || memcmp(series->self, series->total, sizeof series->self) == 0);
}

void intervals_find(const struct interval_terms *terms, struct intervals *out_rows)
{
	struct finding finding = {
		.terms = terms,
		.is_outermost = xzalloc(terms->place_count * sizeof(bool)),
		.of_place = xzalloc(terms->place_count * sizeof(struct sums)),
		.self = xzalloc((terms->row_count + 1) * sizeof(struct sums)),
		.total = xzalloc((terms->row_count + 1) * sizeof(struct sums)),
		.kept = xzalloc((terms->row_count + 1) * sizeof(int32_t)),
	};

	find_outermost(&finding);
	add_weights(&finding);
	free(finding.of_place);
	keep_rows(&finding);
	find_series(&finding);
	for (size_t i = 0; i < terms->row_count; i++) {
		const struct series *series =
			finding.kept[i] != NOT_KEPT ? &finding.series[finding.kept[i]] : NULL;

		out_rows[i].self =
			interval_of(&finding, &finding.self[i], series ? series->self : NULL,
				    time_of(&finding.self[i]));
		out_rows[i].total = is_leaf(&finding, i, series)
					    ? out_rows[i].self
					    : interval_of(&finding, &finding.total[i],
							  series ? series->total : NULL,
							  time_of(&finding.total[i]));
	}
	free(finding.is_outermost);
	free(finding.self);
	free(finding.total);
	free(finding.kept);
	free(finding.series);
	thread_slots_done(&finding.threads);
}
