#include "load/blame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "load/build_internal.h"
#include "load/timelines.h"
#include "profile/blame.h"
#include "record/reader.h"

/* A row of the owner's that ends so long after a hold may begin in it. */
#define NEAR_NS (20 * 1000000LL)
/* What is summed, by all five: there are fewer than 2^30 stacks. */
struct summing {
	const struct timelines *timelines;
	struct table index; /* to a row's number + 1 */
	struct blame *rows;
	size_t count, capacity;
	struct blames *out;
};

static bool is_owned(uint32_t state)
{
	return state == THREAD_STATE_GIL || state == THREAD_STATE_GVL ||
	       state == THREAD_STATE_LOCK || state == THREAD_STATE_WAIT;
}

static void add(struct summing *summing, const struct blame *row, uint64_t ns)
{
	const uint64_t hi = (uint64_t)row->waiter.n << 32 | row->owner.n;
	const uint64_t lo = (uint64_t)row->waiter_stack.n << 34 |
			    (uint64_t)row->owner_stack.n << 4 | (uint64_t)row->state;
	uint64_t *place = table_at(&summing->index, hi, lo, NULL);

	if (*place == 0) {
		summing->rows = array_grow(summing->rows, summing->count, &summing->capacity,
					   sizeof *summing->rows);
		summing->rows[summing->count] = *row;
		*place = ++summing->count;
	}
	summing->rows[*place - 1].ns += ns;
	summing->rows[*place - 1].waits++;
}

/* A part of a wait, in which one thread held what is waited for. */
struct hold {
	const struct timeline *owner;
	int64_t begin_ns, end_ns;
};

static void add_hold(struct summing *summing, const struct timeline *waiter,
		     const struct slice *slice, const struct hold *hold,
		     struct stack_id owner_stack, uint64_t ns)
{
	add(summing,
	    &(struct blame){ .state = (enum thread_state)slice->state,
			     .waiter = waiter->thread,
			     .owner = hold->owner->thread,
			     .waiter_stack = slice->stack,
			     .owner_stack = owner_stack },
	    ns);
}

/* What the slice has in common with the hold; from the first that ends in it or behind it. */
static int64_t common_ns(const struct slice *slice, const struct hold *hold)
{
	const int64_t from = slice->end_ns - slice->ns;
	const int64_t begin = from > hold->begin_ns ? from : hold->begin_ns;
	const int64_t end = slice->end_ns < hold->end_ns ? slice->end_ns : hold->end_ns;

	return end > begin ? end - begin : 0;
}

/* Rows that are looked at for what a thread executed that waited for a CPU. */
#define NEIGHBOURS 8U

/* A thread that wants a CPU is where it runs on, or where it ran before. */
static struct stack_id stack_in(const struct timeline *owner, size_t at)
{
	if (!owner->slices[at].is_own)
		return owner->slices[at].stack;
	for (size_t i = at + 1; i < owner->count && i <= at + NEIGHBOURS; i++) {
		if (!owner->slices[i].is_own && owner->slices[i].state == THREAD_STATE_RUNNING)
			return owner->slices[i].stack;
	}
	for (size_t i = at; i > 0 && i + NEIGHBOURS > at; i--) {
		if (!owner->slices[i - 1].is_own)
			return owner->slices[i - 1].stack;
	}
	return owner->slices[at].stack;
}

/* Divides a hold among what its owner did meanwhile, by how long each took. */
static void blame_hold(struct summing *summing, const struct timeline *waiter,
		       const struct slice *slice, const struct hold *hold, uint64_t ns)
{
	const struct timeline *owner = hold->owner;
	const size_t first = timeline_find(owner, hold->begin_ns);
	uint64_t whole = 0, left = ns;
	size_t i;

	/* Rows stand for the time before them: the last one ends behind the hold. */
	for (i = first; i < owner->count; i++) {
		whole += (uint64_t)common_ns(&owner->slices[i], hold);
		if (owner->slices[i].end_ns > hold->end_ns + NEAR_NS) {
			i++;
			break;
		}
	}
	for (size_t j = first; j < i && whole > 0; j++) {
		const uint64_t common = (uint64_t)common_ns(&owner->slices[j], hold);
		const uint64_t part = (uint64_t)((double)ns * (double)common / (double)whole);

		if (part == 0 || part > left)
			continue;
		add_hold(summing, waiter, slice, hold, stack_in(owner, j), part);
		left -= part;
	}
	if (whole == 0)
		add_hold(summing, waiter, slice, hold,
			 first < owner->count &&
					 owner->slices[first].end_ns <= hold->end_ns + NEAR_NS
				 ? stack_in(owner, first)
				 : (struct stack_id){ 0 },
			 ns);
}

/* What marks say of the waits of one thread, in one state with one stack. */
struct place {
	uint64_t known_ns; /* of waits in which an owner was met */
	uint64_t met_ns;   /* what owners were met for, in sum: the same on average */
};

/* The waits of one thread. */
struct waits {
	struct summing *summing;
	const struct timeline *waiter;
	struct table by_place; /* of a state and a stack: the number of one of places + 1 */
	struct place *places;
	size_t count, capacity;
	bool *has_owner; /* by slice */
};

static bool may_be_owned(const struct slice *slice)
{
	return is_owned(slice->state) && !slice->is_own;
}

static struct place *place_of(struct waits *waits, uint32_t state, uint32_t stack)
{
	uint64_t *number = table_at(&waits->by_place, state, stack, NULL);

	if (*number == 0) {
		waits->places = array_grow(waits->places, waits->count, &waits->capacity,
					   sizeof *waits->places);
		waits->places[waits->count] = (struct place){ 0 };
		*number = ++waits->count;
	}
	return &waits->places[*number - 1];
}

/* The slice that has most of the hold, from the one of that number on; NULL: none has any. */
static const struct slice *slice_of(const struct timeline *waiter, size_t first,
				    const struct hold *hold)
{
	const struct slice *best = NULL;
	int64_t most = 0;

	for (size_t i = first; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];
		const int64_t common = may_be_owned(slice) ? common_ns(slice, hold) : 0;

		if (common > most) {
			most = common;
			best = slice;
		}
		if (!slice->is_own && slice->end_ns - slice->ns >= hold->end_ns)
			break;
	}
	return best;
}

/* A wait may be stored in pieces, of one state and stack: the hold is of all that it has to do with. */
static void blame_mark(struct waits *waits, const struct hold *hold)
{
	const struct timeline *waiter = waits->waiter;
	const size_t first = timeline_find(waiter, hold->begin_ns);
	const struct slice *best = slice_of(waiter, first, hold);
	struct hold within = *hold;
	int64_t begin_ns = INT64_MAX, end_ns = 0;

	if (!best)
		return;
	for (size_t i = first; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];

		if (!slice->is_own && slice->end_ns - slice->ns >= hold->end_ns)
			break;
		if (!may_be_owned(slice) || slice->state != best->state ||
		    slice->stack.n != best->stack.n || common_ns(slice, hold) == 0)
			continue;
		waits->has_owner[i] = true;
		if (slice->end_ns - slice->ns < begin_ns)
			begin_ns = slice->end_ns - slice->ns;
		end_ns = slice->end_ns;
	}
	if (within.begin_ns < begin_ns)
		within.begin_ns = begin_ns;
	if (within.end_ns > end_ns)
		within.end_ns = end_ns;
	place_of(waits, best->state, best->stack.n)->met_ns +=
		(uint64_t)(hold->end_ns - hold->begin_ns);
	blame_hold(waits->summing, waiter, best, &within,
		   (uint64_t)(hold->end_ns - hold->begin_ns));
}

static void blame_marks(struct waits *waits)
{
	const struct timeline *waiter = waits->waiter;
	const int64_t end_ns = waiter->count > 0 ? waiter->slices[waiter->count - 1].end_ns : 0;

	for (size_t i = 0; i < waiter->mark_count; i++) {
		const struct hold hold = {
			.owner = timelines_find(waits->summing->timelines,
						waiter->marks[i].owner),
			.begin_ns = waiter->marks[i].time_ns,
			.end_ns = i + 1 < waiter->mark_count ? waiter->marks[i + 1].time_ns
							     : end_ns,
		};

		if (hold.owner && hold.end_ns > hold.begin_ns)
			blame_mark(waits, &hold);
	}
}

/* Owners that were met have the waits' time: on average it is what they were met for. */
static void scale(struct waits *waits, size_t first_row)
{
	for (size_t i = first_row; i < waits->summing->count; i++) {
		struct blame *row = &waits->summing->rows[i];
		const struct place *place = place_of(waits, row->state, row->waiter_stack.n);

		if (place->met_ns > 0)
			row->ns = (uint64_t)((double)row->ns * (double)place->known_ns /
					     (double)place->met_ns);
	}
}

static void blame_waits(struct summing *summing, const struct timeline *waiter)
{
	CLEANUP(freep) bool *has_owner = xzalloc((waiter->count + 1) * sizeof *has_owner);
	struct waits waits = { .summing = summing, .waiter = waiter, .has_owner = has_owner };
	struct blames *out = summing->out;
	const size_t first_row = summing->count;

	blame_marks(&waits);
	for (size_t i = 0; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];

		if (!is_owned(slice->state))
			continue;
		out->whole_ns[slice->state] += (uint64_t)slice->ns;
		if (has_owner[i])
			place_of(&waits, slice->state, slice->stack.n)->known_ns +=
				(uint64_t)slice->ns;
		else
			out->unknown_ns[slice->state] += (uint64_t)slice->ns;
	}
	scale(&waits, first_row);
	free(waits.places);
	table_done(&waits.by_place);
}

/* Of each other thread the time that it ran in [begin, end). */
static uint64_t each_running(struct summing *summing, const struct timeline *waiter,
			     const struct slice *slice, uint64_t whole_ns)
{
	const struct timelines *timelines = summing->timelines;
	const int64_t begin = slice->end_ns - slice->ns;
	uint64_t sum = 0;

	for (size_t i = timelines_find_running(timelines, begin); i < timelines->running_count;
	     i++) {
		const struct running *running = &timelines->running[i];
		const int64_t from = running->end_ns - running->ns;
		const int64_t common =
			(running->end_ns < slice->end_ns ? running->end_ns : slice->end_ns) -
			(from > begin ? from : begin);

		if (running->end_ns > slice->end_ns + timelines->longest_running_ns)
			break;
		if (common <= 0 || running->thread.n == waiter->thread.n)
			continue;
		sum += (uint64_t)common;
		if (whole_ns > 0)
			add(summing,
			    &(struct blame){ .state = THREAD_STATE_RUNNABLE,
					     .waiter = waiter->thread,
					     .owner = running->thread,
					     .waiter_stack = slice->stack,
					     .owner_stack = running->stack },
			    (uint64_t)((double)slice->ns * (double)common / (double)whole_ns));
	}
	return sum;
}

static void blame_runnable(struct summing *summing, const struct timeline *waiter)
{
	for (size_t i = 0; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];
		uint64_t whole_ns;

		if (slice->state != THREAD_STATE_RUNNABLE || slice->ns <= 0)
			continue;
		summing->out->whole_ns[slice->state] += (uint64_t)slice->ns;
		whole_ns = each_running(summing, waiter, slice, 0);
		if (whole_ns == 0)
			summing->out->unknown_ns[slice->state] += (uint64_t)slice->ns;
		else
			each_running(summing, waiter, slice, whole_ns);
	}
}

int blame_read(struct recording_reader *reader, const struct blame_terms *terms,
	       struct profile *profile, struct blames *out_blames, struct error *err)
{
	CLEANUP(timelines_done) struct timelines timelines = { 0 };
	struct summing summing = { .timelines = &timelines, .out = out_blames };
	const int rc = timelines_read(reader, terms, &timelines, err);

	*out_blames = (struct blames){ 0 };
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < timelines.count; i++) {
		blame_waits(&summing, &timelines.rows[i]);
		blame_runnable(&summing, &timelines.rows[i]);
	}
	out_blames->is_cut = timelines.is_cut;
	out_blames->count = summing.count;
	if (summing.count > 0) {
		out_blames->rows = profile_alloc(profile, summing.count * sizeof *summing.rows);
		memcpy(out_blames->rows, summing.rows, summing.count * sizeof *summing.rows);
	}
	free(summing.rows);
	table_done(&summing.index);
	return 0;
}
