#include "report/blame_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/filter.h"
#include "profile/info.h"
#include "profile/origin.h"

/* How much a frame says of what a thread executes. */
enum worth { WORTH_NOTHING, WORTH_SYSTEM, WORTH_CODE, WORTH_INTERPRETED, WORTH_OWN };

static bool is_c_library(const char *path)
{
	/* Our agent stands between programs and the C library. */
	static const char *const names[] = { "libc.", "libc-",  "libpthread",
					     "ld-",   "[vdso]", "libfathom-agent" };
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static enum worth worth_of(const struct profile *profile, const struct frame *frame)
{
	const struct function *function = profile_get_function(profile, frame->function);
	const struct module *module =
		function ? profile_get_module(profile, function->module) : NULL;

	if (!function || function->language == LANGUAGE_KERNEL ||
	    function->language == LANGUAGE_FATHOM)
		return WORTH_NOTHING;
	if (language_is_interpreted(function->language))
		return function->file && origin_of_source(function->file).origin == ORIGIN_OWN
			       ? WORTH_OWN
			       : WORTH_INTERPRETED;
	return module && is_c_library(module->path) ? WORTH_SYSTEM : WORTH_CODE;
}

bool blame_is_c_library(const struct profile *profile, struct frame_id frame)
{
	return worth_of(profile, profile_get_frame(profile, frame)) == WORTH_SYSTEM;
}

struct frame_id blame_frame_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);
	struct frame_id best = stack ? stack->frame : (struct frame_id){ 0 };
	enum worth most = WORTH_NOTHING;

	for (; stack; stack = profile_get_stack(profile, stack->parent)) {
		const enum worth worth =
			worth_of(profile, profile_get_frame(profile, stack->frame));

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

/* Rows come heaviest first, so the stacks of the first are those that stay. */
static void add(struct blame_pairs *pairs, size_t *capacity, struct table *index,
		const struct profile *profile, const struct blame *row)
{
	const uint64_t hi = (uint64_t)row->waiter.n << 32 | row->owner.n;
	const uint64_t lo = (uint64_t)blame_frame_of(profile, row->waiter_stack).n << 34 |
			    (uint64_t)blame_frame_of(profile, row->owner_stack).n << 4 |
			    (uint64_t)row->state;
	uint64_t *place = table_at(index, hi, lo, NULL);

	pairs->whole_ns += row->ns;
	if (*place != 0) {
		pairs->rows[*place - 1].ns += row->ns;
		pairs->rows[*place - 1].waits += row->waits;
		return;
	}
	pairs->rows = array_grow(pairs->rows, pairs->count, capacity, sizeof *pairs->rows);
	pairs->rows[pairs->count++] = *row;
	*place = pairs->count;
}

void blame_pairs_make(const struct profile *profile, const struct filter *filter,
		      struct blame_pairs *out_pairs)
{
	const struct blames *blames = profile_get_info(profile)->blames;
	const size_t size = blames->count * sizeof *blames->rows;
	CLEANUP(freep) struct blame *sorted = xzalloc(size + 1);
	struct table index = { 0 };
	size_t capacity = 0;

	*out_pairs = (struct blame_pairs){ 0 };
	if (blames->count > 0) {
		memcpy(sorted, blames->rows, size);
		qsort(sorted, blames->count, sizeof *sorted, compare);
	}
	for (size_t i = 0; i < blames->count; i++) {
		const struct weight weight = { .stack = sorted[i].waiter_stack,
					       .thread = sorted[i].waiter,
					       .state = sorted[i].state };

		if (filter_keeps(filter, &weight))
			add(out_pairs, &capacity, &index, profile, &sorted[i]);
	}
	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		if (state != THREAD_STATE_WAIT && state != THREAD_STATE_RUNNABLE)
			out_pairs->unknown_ns += blames->unknown_ns[state];
	}
	if (out_pairs->count > 0)
		qsort(out_pairs->rows, out_pairs->count, sizeof *out_pairs->rows, compare);
	table_done(&index);
}

void blame_pairs_done(struct blame_pairs *pairs)
{
	free(pairs->rows);
	*pairs = (struct blame_pairs){ 0 };
}
