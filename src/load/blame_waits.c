/*
 * blame_waits - divides one thread's waits for what others own among the owners that were
 * found, and among what these did meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "load/blame_sums.h"
#include "load/timelines.h"
#include "profile/profile.h"

/* An owner's row that ends up to this long after a hold may have begun in it. */
#define NEAR_NS (20 * 1000000LL)
/* Rows farther from a hold have nothing to do with it. */
#define FAR_NS (200 * 1000000LL)

static bool is_owned(uint32_t state)
{
	return state == THREAD_STATE_GIL || state == THREAD_STATE_GVL ||
	       state == THREAD_STATE_LOCK || state == THREAD_STATE_WAIT;
}

/* A part of a wait, in which one thread held what is waited for. */
struct hold {
	const struct timeline *owner; /* NULL: it is not known which */
	struct stack_id stack;        /* of the wait; none: the recording does not have it */
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

/* How long the slice and the hold overlap. */
static int64_t common_ns(const struct slice *slice, const struct hold *hold)
{
	const int64_t from = slice->end_ns - slice->ns;
	const int64_t begin = from > hold->begin_ns ? from : hold->begin_ns;
	const int64_t end = slice->end_ns < hold->end_ns ? slice->end_ns : hold->end_ns;

	return end > begin ? end - begin : 0;
}

/* Rows around a wait for a CPU that are searched for what the thread executed. */
#define NEIGHBOURS 8U

/* A row's stack; for a wait for a CPU, where the thread ran next, or had run before. */
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
 * Whether the owner may have held what others wait for during the slice.  Rows of waits shorter
 * than a tick stand for a whole one, and reach into the time before them: an owner that was
 * seen to run did not wait then, and no thread waits for what it holds itself.
 */
static bool may_hold(const struct blame_sums *sums, const struct slice *waits,
		     const struct slice *slice, const struct hold *hold)
{
	if (!is_waiting(slice))
		return true;
	/* Calls that wait release it; in those that do not, the owner was read. */
	if (is_global(waits->state))
		return false;
	if (slice->state == waits->state &&
	    leaf_of(sums->profile, slice->stack).n == leaf_of(sums->profile, waits->stack).n)
		return false;
	return waits->state == THREAD_STATE_WAIT || slice->ns >= NEAR_NS || hold->stack.n == 0;
}

static int64_t held_ns(const struct blame_sums *sums, const struct slice *waits,
		       const struct slice *slice, const struct hold *hold)
{
	return may_hold(sums, waits, slice, hold) ? common_ns(slice, hold) : 0;
}

/*
 * For a hold that overlaps no row of the owner: the next sample, which stands for the time
 * since the one before; else the last one, or the row of time without samples.
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

	/* Rows stand for the time before them: the last one ends after the hold. */
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

/* Sums over the waits of one thread, in one state with one stack. */
struct place {
	uint64_t known_ns; /* of waits whose owners were looked for */
	uint64_t met_ns;   /* of the holds that were found in them: the same on average */
};

/* The waits of one thread. */
struct waits {
	struct blame_sums *sums;
	const struct timeline *waiter;
	struct table by_place; /* state and stack to index in places + 1 */
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

/* How well a hold fits a slice: by the stack, or only by its leaf, what is waited for. */
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
 * The slice, from `first` on, that fits the hold best, and of these the one that overlaps it
 * longest; NULL: none does.
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

/*
 * Whether the owner of an interpreter's lock was read in its own wait for that lock, which was
 * over by then.
 */
static bool is_of_itself(const struct waits *waits, const struct slice *slice,
			 const struct hold *hold)
{
	const struct profile *profile = waits->sums->profile;

	return is_global(slice->state) &&
	       leaf_of(profile, hold->owner_stack).n == leaf_of(profile, slice->stack).n;
}

/* True of an owner that was woken from a wait whose stack was not read. */
static bool is_placeless(const struct waits *waits, struct stack_id id)
{
	const struct profile *profile = waits->sums->profile;
	const struct stack *stack = profile_get_stack(profile, id);

	return stack && stack->parent.n == 0 &&
	       strcmp(profile_get_function(profile,
					   profile_get_frame(profile, stack->frame)->function)
			      ->name,
		      "[waits for a CPU]") == 0;
}

static struct stack_id owner_stack_of(const struct waits *waits, const struct hold *hold)
{
	struct stack_id next;

	if (!hold->owner || !is_placeless(waits, hold->owner_stack))
		return hold->owner_stack;
	next = stack_near(hold);
	return next.n != 0 ? next : hold->owner_stack;
}

/*
 * A wait may be stored in pieces, of one state and stack: the hold belongs to all that it
 * overlaps.
 */
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
		add_hold(waits->sums, waiter, best, &within, owner_stack_of(waits, hold), ns);
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

/* Scales the times of owners to those of the waits: on average they are the same. */
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

/* No thread holds what a process waits for: a child process's end, a signal. */
static bool is_for_process(const struct waits *waits, const struct slice *slice)
{
	const struct profile *profile = waits->sums->profile;
	const struct frame *leaf = profile_get_frame(profile, leaf_of(profile, slice->stack));

	return slice->state == THREAD_STATE_WAIT && !slice->is_own && leaf &&
	       !strstr(profile_get_function(profile, leaf->function)->name, "a thread's end");
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

		if (is_owned(slice->state) && !has_mark[i] && slice->ns > 0 &&
		    !is_for_process(&waits, slice))
			blame_sums_add_unowned(sums, waiter, slice);
	}
	free(waits.places);
	table_done(&waits.by_place);
}
