#include "profile/merged_threads.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/group_waits.h"
#include "profile/groups.h"
#include "profile/idle.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "profile/thread_kinds.h"

/* Up to so many threads of one kind keep rows of their own. */
enum { ALIKE_MOST = 8 };

struct merging {
	struct groups *groups;
	struct stack_id *places; /* by thread id: where idle threads wait */
	struct thread_kinds *kinds;
	struct table counts; /* (process, kind) to the number of rows that are not idle */
	struct table rows;   /* key of a merged row to its number + 1 */
};

/* Adds one row to another. */
static void merge(struct groups *groups, struct group *into, const struct group *from)
{
	struct group_waits *waits = &groups->waits[into->waits - groups->waits];

	sum_add(&into->cost.self_ns, from->cost.self_ns, &groups->is_saturated);
	sum_add(&into->cost.total_ns, from->cost.total_ns, &groups->is_saturated);
	sum_add(&into->cost.self_samples, from->cost.self_samples, &groups->is_saturated);
	sum_add(&into->cost.total_samples, from->cost.total_samples, &groups->is_saturated);
	for (int state = 0; state < THREAD_STATE_COUNT; state++)
		sum_add(&waits->ns[state], from->waits->ns[state], &groups->is_saturated);
	if (waits->longest.n == from->waits->longest.n)
		sum_add(&waits->longest_ns, from->waits->longest_ns, &groups->is_saturated);
	into->idle += from->idle;
	into->alike += from->alike;
}

static bool is_idle(const struct merging *merging, const struct group *row)
{
	return merging->places[row->thread.n].n != 0;
}

static uint64_t *count_of(struct merging *merging, const struct group *row)
{
	return table_at(&merging->counts, row->process.n,
			thread_kinds_of(merging->kinds, row->thread), NULL);
}

/*
 * Where the number of the row that this one merges into is stored; 0 there: it is the first.
 * NULL: it stays a row of its own.
 */
static uint64_t *place_of(struct merging *merging, const struct group *row)
{
	const uint64_t idle_place = merging->places[row->thread.n].n;

	if (is_idle(merging, row))
		return table_at(&merging->rows, (uint64_t)row->process.n << 1 | 1, idle_place,
				NULL);
	if (*count_of(merging, row) > ALIKE_MOST)
		return table_at(&merging->rows, (uint64_t)row->process.n << 1,
				thread_kinds_of(merging->kinds, row->thread), NULL);
	return NULL;
}

static void keep(struct merging *merging, struct group row)
{
	struct groups *groups = merging->groups;
	uint64_t *place = place_of(merging, &row);

	row.idle = is_idle(merging, &row);
	row.alike = 1;
	if (place && *place) {
		merge(groups, &groups->rows[*place - 1], &row);
		return;
	}
	groups->rows[groups->count++] = row;
	if (place)
		*place = groups->count;
}

static int compare(const void *a, const void *b)
{
	const struct group *first = a, *second = b;

	if (first->cost.total_ns != second->cost.total_ns)
		return first->cost.total_ns > second->cost.total_ns ? -1 : 1;
	return first->thread.n < second->thread.n ? -1 : first->thread.n > second->thread.n;
}

void merged_threads_make(struct groups *groups, const struct profile *profile)
{
	CLEANUP(freep) struct stack_id *places = idle_places(profile);
	CLEANUP(thread_kinds_freep) struct thread_kinds *kinds = thread_kinds_new(profile);
	struct merging merging = { groups, places, kinds, { 0 }, { 0 } };
	const size_t count = groups->count;

	if (!groups->waits)
		return;
	for (size_t i = 0; i < count; i++)
		*count_of(&merging, &groups->rows[i]) += !is_idle(&merging, &groups->rows[i]);
	groups->count = 0;
	for (size_t i = 0; i < count; i++)
		keep(&merging, groups->rows[i]);
	qsort(groups->rows, groups->count, sizeof *groups->rows, compare);
	table_done(&merging.counts);
	table_done(&merging.rows);
}
