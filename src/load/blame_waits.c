/*
 * blame_waits - one thread's waits for what others own: divided among the owners that were met, and
 * among what these did meanwhile.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "load/blame_sums.h"
#include "load/timelines.h"
#include "profile/profile.h"

/* A row of the owner's that ends so long after a hold may begin in it. */
#define NEAR_NS (20 * 1000000LL)
/* What is farther from a hold says nothing of it. */
#define FAR_NS (200 * 1000000LL)

static bool is_owned(uint32_t state)
{
	return state == THREAD_STATE_GIL || state == THREAD_STATE_GVL ||
	       state == THREAD_STATE_LOCK || state == THREAD_STATE_WAIT;
}

/* A part of a wait, in which one thread held what is waited for. */
struct hold {
	const struct timeline *owner; /* NULL: it is not known which */
	struct stack_id stack;        /* of the wait; none: of a recording that does not say */
	struct stack_id owner_stack;  /* in which the owner waited; none: it ran, or likewise */
	int64_t begin_ns, end_ns;
};

static void add_hold(struct blame_sums *sums, const struct timeline *waiter,
		     const struct slice *slice, const struct hold *hold,
		     struct stack_id owner_stack, uint64_t ns)
{
	blame_sums_add(sums,
		       &(struct blame){ .state = (enum thread_state)slice->state,
					.waiter = waiter->thread,
					.owner = hold->owner ? hold->owner->thread
							     : (struct thread_id){ 0 },
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

static struct frame_id leaf_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	return stack ? stack->frame : (struct frame_id){ 0 };
}

static bool is_waiting(const struct slice *slice)
{
	return slice->state != THREAD_STATE_RUNNING && slice->state != THREAD_STATE_RUNNABLE;
}

static bool is_global(uint32_t state)
{
	return state == THREAD_STATE_GIL || state == THREAD_STATE_GVL;
}

/*
 * Whether what the owner does in the slice may be what it did with what others wait for.  Rows of
 * waits that were shorter than a tick stand for one, and reach into the time before them: what is
 * said to have run did not wait, and no thread waits for what it holds.
 */
static bool may_hold(const struct blame_sums *sums, const struct slice *waits,
		     const struct slice *slice, const struct hold *hold)
{
	if (!is_waiting(slice))
		return true;
	if (slice->state == waits->state &&
	    leaf_of(sums->profile, slice->stack).n == leaf_of(sums->profile, waits->stack).n)
		return false;
	return waits->state == THREAD_STATE_WAIT || slice->ns >= NEAR_NS ||
	       (hold->stack.n == 0 && !is_global(waits->state));
}

static int64_t held_ns(const struct blame_sums *sums, const struct slice *waits,
		       const struct slice *slice, const struct hold *hold)
{
	return may_hold(sums, waits, slice, hold) ? common_ns(slice, hold) : 0;
}

/*
 * No row of the owner's has to do with the hold: the next sample, which stands for what its thread ran
 * since the one before; else the last one, or what no sample stands for.
 */
static struct stack_id stack_near(const struct hold *hold)
{
	const struct timeline *owner = hold->owner;
	const size_t first = timeline_find(owner, hold->begin_ns);
	struct stack_id unsampled = { 0 };

	for (size_t i = first; i < owner->count; i++) {
		const struct slice *slice = &owner->slices[i];

		if (slice->state == THREAD_STATE_RUNNING && !slice->is_own)
			return slice->stack;
		if (slice->state == THREAD_STATE_RUNNING)
			unsampled = slice->stack;
	}
	for (size_t i = first; i > 0; i--) {
		const struct slice *slice = &owner->slices[i - 1];

		if (slice->end_ns < hold->begin_ns - FAR_NS)
			break;
		if (slice->state == THREAD_STATE_RUNNING && !slice->is_own)
			return slice->stack;
	}
	return unsampled;
}

/* Divides a hold among what its owner did meanwhile, by how long each took. */
static void blame_hold(struct blame_sums *sums, const struct timeline *waiter,
		       const struct slice *waits, const struct hold *hold, uint64_t ns)
{
	const struct timeline *owner = hold->owner;
	const size_t first = timeline_find(owner, hold->begin_ns);
	uint64_t whole = 0, left = ns;
	size_t i;

	/* Rows stand for the time before them: the last one ends behind the hold. */
	for (i = first; i < owner->count; i++) {
		whole += (uint64_t)held_ns(sums, waits, &owner->slices[i], hold);
		if (owner->slices[i].end_ns > hold->end_ns + NEAR_NS) {
			i++;
			break;
		}
	}
	for (size_t j = first; j < i && whole > 0; j++) {
		const uint64_t common = (uint64_t)held_ns(sums, waits, &owner->slices[j], hold);
		const uint64_t part = (uint64_t)((double)ns * (double)common / (double)whole);

		if (part == 0 || part > left)
			continue;
		add_hold(sums, waiter, waits, hold, stack_in(owner, j), part);
		left -= part;
	}
	if (whole == 0)
		add_hold(sums, waiter, waits, hold, stack_near(hold), ns);
}

/* What marks say of the waits of one thread, in one state with one stack. */
struct place {
	uint64_t known_ns; /* of waits whose owners were looked for */
	uint64_t met_ns;   /* what they were met for, in sum: the same on average */
};

/* The waits of one thread. */
struct waits {
	struct blame_sums *sums;
	const struct timeline *waiter;
	struct table by_place; /* of a state and a stack: the number of one of places + 1 */
	struct place *places;
	size_t count, capacity;
	bool *has_mark; /* by slice */
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

/* How well the mark fits the slice: by its stack, or by what that waits for. */
enum fit { FIT_NONE, FIT_LEAF, FIT_STACK };

static enum fit fit_of(const struct waits *waits, const struct slice *slice,
		       const struct hold *hold)
{
	const struct profile *profile = waits->sums->profile;

	if (!may_be_owned(slice))
		return FIT_NONE;
	if (hold->stack.n == 0 || slice->stack.n == hold->stack.n)
		return FIT_STACK;
	return leaf_of(profile, slice->stack).n == leaf_of(profile, hold->stack).n ? FIT_LEAF
										   : FIT_NONE;
}

/*
 * The slice that fits best, and of those the one that has most of the hold, from the one of that
 * number on; NULL: none has any.
 */
static const struct slice *slice_of(const struct waits *waits, size_t first,
				    const struct hold *hold)
{
	const struct timeline *waiter = waits->waiter;
	const struct slice *best = NULL;
	enum fit best_fit = FIT_NONE;
	int64_t most = 0;

	for (size_t i = first; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];
		const enum fit fit = fit_of(waits, slice, hold);
		const int64_t common = fit != FIT_NONE ? common_ns(slice, hold) : 0;

		if (common > 0 && (fit > best_fit || (fit == best_fit && common > most))) {
			best_fit = fit;
			most = common;
			best = slice;
		}
		if (!slice->is_own && slice->end_ns - slice->ns >= hold->end_ns)
			break;
	}
	return best;
}

/* The owner of an interpreter's lock was met in its wait for it, which was over by then. */
static bool is_of_itself(const struct waits *waits, const struct slice *slice,
			 const struct hold *hold)
{
	const struct profile *profile = waits->sums->profile;

	return is_global(slice->state) &&
	       leaf_of(profile, hold->owner_stack).n == leaf_of(profile, slice->stack).n;
}

/* A wait may be stored in pieces, of one state and stack: the hold is of all that it has to do with. */
static void blame_mark(struct waits *waits, const struct hold *hold)
{
	const struct timeline *waiter = waits->waiter;
	const size_t first = timeline_find(waiter, hold->begin_ns);
	const struct slice *best = slice_of(waits, first, hold);
	const uint64_t ns = (uint64_t)(hold->end_ns - hold->begin_ns);
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
		waits->has_mark[i] = true;
		if (slice->end_ns - slice->ns < begin_ns)
			begin_ns = slice->end_ns - slice->ns;
		end_ns = slice->end_ns;
	}
	if (within.begin_ns < begin_ns)
		within.begin_ns = begin_ns;
	if (within.end_ns > end_ns)
		within.end_ns = end_ns;
	place_of(waits, best->state, best->stack.n)->met_ns += ns;
	if (hold->owner && (hold->owner_stack.n == 0 || is_of_itself(waits, best, hold)))
		blame_hold(waits->sums, waiter, best, &within, ns);
	else
		add_hold(waits->sums, waiter, best, &within, hold->owner_stack, ns);
}

static void blame_marks(struct waits *waits)
{
	const struct timeline *waiter = waits->waiter;
	const int64_t end_ns = waiter->count > 0 ? waiter->slices[waiter->count - 1].end_ns : 0;

	for (size_t i = 0; i < waiter->mark_count; i++) {
		const struct owner_mark *mark = &waiter->marks[i];
		const struct hold hold = {
			.owner = timelines_find(waits->sums->timelines, mark->owner),
			.stack = mark->stack,
			.owner_stack = mark->owner_stack,
			.begin_ns = mark->time_ns,
			.end_ns = i + 1 < waiter->mark_count ? waiter->marks[i + 1].time_ns
							     : end_ns,
		};

		if ((hold.owner || hold.stack.n != 0) && hold.end_ns > hold.begin_ns)
			blame_mark(waits, &hold);
	}
}

/* Owners that were met have the waits' time: on average it is what they were met for. */
static void scale(struct waits *waits, size_t first_row)
{
	for (size_t i = first_row; i < waits->sums->count; i++) {
		struct blame *row = &waits->sums->rows[i];
		const struct place *place = place_of(waits, row->state, row->waiter_stack.n);

		if (place->met_ns > 0)
			row->ns = (uint64_t)((double)row->ns * (double)place->known_ns /
					     (double)place->met_ns);
	}
}

void blame_add_waits(struct blame_sums *sums, const struct timeline *waiter)
{
	CLEANUP(freep) bool *has_mark = xzalloc((waiter->count + 1) * sizeof *has_mark);
	struct waits waits = { .sums = sums, .waiter = waiter, .has_mark = has_mark };
	const size_t first_row = sums->count;

	blame_marks(&waits);
	for (size_t i = 0; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];

		if (is_owned(slice->state) && has_mark[i])
			place_of(&waits, slice->state, slice->stack.n)->known_ns +=
				(uint64_t)slice->ns;
	}
	scale(&waits, first_row);
	for (size_t i = 0; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];

		if (is_owned(slice->state) && !has_mark[i] && slice->ns > 0)
			blame_sums_add_unowned(sums, waiter, slice);
	}
	free(waits.places);
	table_done(&waits.by_place);
}
