#include "report/blame_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/agent_path.h"
#include "base/memory.h"
#include "base/table.h"
#include "profile/filter.h"
#include "profile/idle.h"
#include "profile/info.h"
#include "profile/packages.h"
#include "profile/thread_kinds.h"

/* How informative a frame is about what its thread executes. */
enum worth { WORTH_NOTHING, WORTH_SYSTEM, WORTH_CODE, WORTH_INTERPRETED, WORTH_OWN };

static bool is_c_library(const char *path)
{
	static const char *const names[] = { "libc.", "libc-", "libpthread", "ld-", "[vdso]" };
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	/* The agent interposes functions of the C library. */
	return path && path_is_agent(path);
}

static enum worth worth_of(const struct profile *profile, const struct packages *packages,
			   const struct frame *frame)
{
	const struct function *function = profile_get_function(profile, frame->function);
	const struct module *module =
		function ? profile_get_module(profile, function->module) : NULL;

	if (!function || function->language == LANGUAGE_KERNEL ||
	    function->language == LANGUAGE_FATHOM)
		return WORTH_NOTHING;
	if (packages && packages_is_own(packages, frame->function))
		return WORTH_OWN;
	if (language_is_interpreted(function->language))
		return WORTH_INTERPRETED;
	return module && is_c_library(module->path) ? WORTH_SYSTEM : WORTH_CODE;
}

bool blame_is_c_library(const struct profile *profile, struct frame_id frame)
{
	return worth_of(profile, NULL, profile_get_frame(profile, frame)) == WORTH_SYSTEM;
}

/*
 * Frames like [start-up]: time without samples does not belong to the thread's first function.
 * A thread that was woken and has no CPU is where it waited.
 */
static bool is_nowhere(const struct profile *profile, struct frame_id id)
{
	const struct frame *frame = profile_get_frame(profile, id);
	const struct function *function = profile_get_function(profile, frame->function);

	return function->language == LANGUAGE_FATHOM &&
	       strcmp(function->name, "[waits for a CPU]") != 0;
}

struct frame_id blame_frame_of(const struct profile *profile, const struct packages *packages,
			       struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);
	struct frame_id best = stack ? stack->frame : (struct frame_id){ 0 };
	enum worth most = WORTH_NOTHING;

	if (stack && is_nowhere(profile, stack->frame))
		return best;
	for (; stack && most < WORTH_OWN; stack = profile_get_stack(profile, stack->parent)) {
		const enum worth worth =
			worth_of(profile, packages, profile_get_frame(profile, stack->frame));

		if (worth > most) {
			most = worth;
			best = stack->frame;
		}
	}
	return best;
}

static int compare(const void *a, const void *b)
{
	const uint64_t first = ((const struct blame *)a)->ns;
	const uint64_t second = ((const struct blame *)b)->ns;

	return first > second ? -1 : first < second;
}

static int compare_pairs(const void *a, const void *b)
{
	const uint64_t first = ((const struct blame_pair *)a)->ns;
	const uint64_t second = ((const struct blame_pair *)b)->ns;

	return first > second ? -1 : first < second;
}

static enum blame_part part_of(const struct blame *row)
{
	if (row->state == THREAD_STATE_RUNNABLE)
		return BLAME_CPU;
	if (row->owner.n == 0)
		return BLAME_UNOWNED;
	return row->state == THREAD_STATE_WAIT ? BLAME_ENDS : BLAME_HELD;
}

/*
 * Per cent of a part's time: pairs with less share rows that do not name where the thread that ran
 * was, of waits for a CPU, or which threads waited and where, of what others held.
 */
static const unsigned int own_row_least[BLAME_PART_COUNT] = {
	[BLAME_HELD] = 1, [BLAME_CPU] = 10
};

struct grouping {
	const struct blame_pairs_terms *terms;
	struct blame_pairs *out;
	const struct stack_id *idle_places;
	struct table idle; /* threads */
	struct table ns;   /* by key and part, with everything */
	uint64_t all_ns[BLAME_PART_COUNT];
	struct table places;          /* keys of what was put together without them */
	struct table rows;            /* key to a row's number + 1, in its part */
	struct table owners, waiters; /* (part and row, thread): already counted */
};

/* A thread, or its kind. */
static uint32_t side_of(const struct grouping *grouping, struct thread_id thread)
{
	return grouping->terms->kinds ? thread_kinds_of(grouping->terms->kinds, thread)
				      : thread.n;
}

static uint32_t leaf_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	return stack ? profile_get_frame(profile, stack->frame)->function.n : 0;
}

/* A frame as it is shown: a function and a line. */
static uint64_t place_of(const struct profile *profile, struct frame_id id)
{
	const struct frame *frame = profile_get_frame(profile, id);

	return frame ? (uint64_t)frame->function.n << 32 | frame->line : 0;
}

/* The hash, of 128 bits, of what makes two rows one. */
static void key_of(const struct grouping *grouping, const struct blame *row, bool is_brief,
		   uint64_t *out_hi, uint64_t *out_lo)
{
	const bool has_holder_alone = is_brief && part_of(row) == BLAME_HELD;
	const struct profile *profile = grouping->terms->profile;
	const struct packages *packages = grouping->terms->packages;
	const uint64_t parts[] = {
		row->state,
		has_holder_alone ? UINT32_MAX : side_of(grouping, row->waiter),
		side_of(grouping, row->owner),
		leaf_of(profile, row->waiter_stack),
		has_holder_alone ? UINT64_MAX
				 : place_of(profile, blame_frame_of(profile, packages,
								    row->waiter_stack)),
		is_brief && !has_holder_alone
			? UINT64_MAX
			: place_of(profile,
				   blame_frame_of(profile, packages, row->owner_stack)),
	};

	*out_hi = 0x9e3779b97f4a7c15ULL;
	*out_lo = 0xc2b2ae3d27d4eb4fULL;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		*out_hi = (*out_hi ^ parts[i]) * 0xff51afd7ed558ccdULL;
		*out_hi ^= *out_hi >> 29;
		*out_lo = (*out_lo + parts[i]) * 0xc4ceb9fe1a85ec53ULL;
		*out_lo ^= *out_lo >> 31;
	}
}

static size_t count_thread(struct table *seen, uint64_t row, struct thread_id thread)
{
	bool is_new = false;

	if (thread.n != 0)
		table_at(seen, row, thread.n, &is_new);
	return is_new;
}

static void add_ns(struct grouping *grouping, const struct blame *row)
{
	const enum blame_part part = part_of(row);
	uint64_t hi, lo;

	key_of(grouping, row, false, &hi, &lo);
	*table_at(&grouping->ns, hi, lo ^ part, NULL) += row->ns;
	grouping->all_ns[part] += row->ns;
}

/* Whether a pair has too little of the time for a row: a compiler runs in a thousand places. */
static bool is_scattered(const struct grouping *grouping, enum blame_part part, uint64_t hi,
			 uint64_t lo)
{
	uint64_t ns = 0;

	return grouping->terms->kinds && table_get(&grouping->ns, hi, lo ^ part, &ns) &&
	       (double)ns * 100 < (double)grouping->all_ns[part] * own_row_least[part];
}

/*
 * Adds a row to its pair; rows come heaviest first, so the pair keeps the first one's stacks.
 */
static void add(struct grouping *grouping, const struct blame *row)
{
	const enum blame_part part = part_of(row);
	struct blame_list *list = &grouping->out->parts[part];
	bool is_new_place = false;
	uint64_t hi, lo;

	key_of(grouping, row, false, &hi, &lo);
	if (is_scattered(grouping, part, hi, lo)) {
		table_at(&grouping->places, hi, lo ^ part, &is_new_place);
		key_of(grouping, row, true, &hi, &lo);
	}
	uint64_t *place = table_at(&grouping->rows, hi, lo ^ part, NULL);

	if (*place == 0) {
		list->rows = array_grow(list->rows, list->count, &list->capacity,
					sizeof *list->rows);
		list->rows[list->count] = (struct blame_pair){ .heaviest = *row };
		*place = ++list->count;
	}
	struct blame_pair *pair = &list->rows[*place - 1];
	const uint64_t number = *place << 2 | part;

	pair->ns += row->ns;
	pair->places += is_new_place;
	list->ns += row->ns;
	pair->owners += count_thread(&grouping->owners, number, row->owner);
	pair->waiters += count_thread(&grouping->waiters, number, row->waiter);
}

static bool skip_others(struct grouping *grouping, const struct blame *row)
{
	if (row->state != THREAD_STATE_RUNNABLE || row->owner.n != 0)
		return false;
	grouping->out->others_ns += row->ns;
	return true;
}

/* Threads that waited at one place for all of their lives, and for nothing that others held. */
static bool skip_idle(struct grouping *grouping, const struct blame *row)
{
	bool is_new;

	if (part_of(row) != BLAME_UNOWNED || row->waiter_stack.n == 0 ||
	    grouping->idle_places[row->waiter.n].n != row->waiter_stack.n)
		return false;
	table_at(&grouping->idle, 0, row->waiter.n, &is_new);
	grouping->out->idle_threads += is_new;
	grouping->out->idle_ns += row->ns;
	return true;
}

static bool is_kept(const struct grouping *grouping, const struct blame *row)
{
	return filter_keeps(grouping->terms->filter,
			    &(struct weight){ .stack = row->waiter_stack,
					      .thread = row->waiter,
					      .state = row->state });
}

static void sort(struct blame_pairs *pairs)
{
	for (size_t i = 0; i < BLAME_PART_COUNT; i++) {
		struct blame_list *list = &pairs->parts[i];

		if (list->count > 0)
			qsort(list->rows, list->count, sizeof *list->rows, compare_pairs);
	}
}

void blame_pairs_make(const struct blame_pairs_terms *terms, struct blame_pairs *out_pairs)
{
	const struct blames *blames = profile_get_info(terms->profile)->blames;
	const size_t size = blames->count * sizeof *blames->rows;
	CLEANUP(freep) struct blame *sorted = xzalloc(size + 1);
	CLEANUP(freep) struct stack_id *places = idle_places(terms->profile);
	struct grouping grouping = { .terms = terms, .out = out_pairs, .idle_places = places };

	*out_pairs = (struct blame_pairs){ 0 };
	if (blames->count > 0) {
		memcpy(sorted, blames->rows, size);
		qsort(sorted, blames->count, sizeof *sorted, compare);
	}
	for (size_t i = 0; i < blames->count; i++) {
		if (is_kept(&grouping, &sorted[i]) && sorted[i].owner.n != 0)
			add_ns(&grouping, &sorted[i]);
	}
	for (size_t i = 0; i < blames->count; i++) {
		if (is_kept(&grouping, &sorted[i]) && !skip_others(&grouping, &sorted[i]) &&
		    !skip_idle(&grouping, &sorted[i]))
			add(&grouping, &sorted[i]);
	}
	sort(out_pairs);
	table_done(&grouping.idle);
	table_done(&grouping.ns);
	table_done(&grouping.places);
	table_done(&grouping.rows);
	table_done(&grouping.owners);
	table_done(&grouping.waiters);
}

void blame_pairs_done(struct blame_pairs *pairs)
{
	for (size_t i = 0; i < BLAME_PART_COUNT; i++)
		free(pairs->parts[i].rows);
	*pairs = (struct blame_pairs){ 0 };
}
