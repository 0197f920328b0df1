/*
 * Finds own functions that only pass calls on, from many functions to many, and again below
 * themselves: a decorator around every function, a visitor's visit(). They are treated as
 * library code between own functions; otherwise all that they call would be added to their
 * first call.
 */
#include "profile/hot_paths_internal.h"

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/sum.h"

enum {
	/* Own functions that call it, and that it calls, not counting itself. */
	NEIGHBOURS = 3,
	/* Minimum per cent of its time spent below a second call of itself ... */
	AGAIN = 20,
	/* ... and maximum per cent without own code that it calls. */
	SELF = 3,
	CANDIDATES_MAX = 64, /* bits of a mask */
};

struct wrappers {
	struct hot_builder *builder;
	uint32_t *nearest;   /* by stack: the innermost own function */
	uint32_t *candidate; /* by function: its candidate number from 1, or 0 */
	uint32_t count;
	struct {
		uint32_t function;
		uint64_t self_ns, total_ns, again_ns;
	} candidates[CANDIDATES_MAX];
	bool is_saturated;
};

/* The first few different functions; unused entries are 0. */
struct neighbours {
	uint32_t functions[NEIGHBOURS];
};

static void add_neighbour(struct neighbours *to, uint32_t function)
{
	for (size_t i = 0; i < NEIGHBOURS; i++) {
		if (to->functions[i] == function)
			return;
		if (to->functions[i] == 0) {
			to->functions[i] = function;
			return;
		}
	}
}

static bool are_many(const struct neighbours *neighbours)
{
	return neighbours->functions[NEIGHBOURS - 1] != 0;
}

/* Functions with many neighbours on both sides. */
static void find_candidates(struct wrappers *wrappers)
{
	const struct hot_builder *builder = wrappers->builder;
	const size_t functions = profile_function_count(builder->profile);
	CLEANUP(freep)
	struct neighbours *callers = xzalloc((functions + 1) * sizeof *callers);
	CLEANUP(freep)
	struct neighbours *callees = xzalloc((functions + 1) * sizeof *callees);

	for (uint32_t i = 1; i <= builder->stacks; i++) {
		const uint32_t caller = wrappers->nearest[hot_caller_of(builder, i)];
		const uint32_t callee = hot_function_of(builder, i).n;

		wrappers->nearest[i] = builder->is_own[callee] ? callee : caller;
		if (!builder->is_own[callee] || caller == 0 || caller == callee)
			continue;
		add_neighbour(&callers[callee], caller);
		add_neighbour(&callees[caller], callee);
	}
	for (uint32_t i = 1; i <= functions && wrappers->count < CANDIDATES_MAX; i++) {
		if (builder->stands_for[i] || !are_many(&callers[i]) || !are_many(&callees[i]))
			continue;
		wrappers->candidates[wrappers->count].function = i;
		wrappers->candidate[i] = ++wrappers->count;
	}
}

static void add_selfs(struct wrappers *wrappers, uint64_t *total_ns)
{
	const struct hot_builder *builder = wrappers->builder;

	for (size_t i = 0; i < profile_weight_count(builder->profile); i++) {
		const struct weight *weight = profile_get_weight(builder->profile, i);
		const uint32_t number = wrappers->candidate[wrappers->nearest[weight->stack.n]];

		if (!filter_keeps(builder->filter, weight))
			continue;
		sum_add(&total_ns[weight->stack.n], weight->ns, &wrappers->is_saturated);
		if (number)
			sum_add(&wrappers->candidates[number - 1].self_ns, weight->ns,
				&wrappers->is_saturated);
	}
	for (uint32_t i = (uint32_t)builder->stacks; i > 0; i--)
		sum_add(&total_ns[hot_caller_of(builder, i)], total_ns[i],
			&wrappers->is_saturated);
}

/* Adds the times of each path's first call of a candidate, and of the second one below that. */
static void add_totals(struct wrappers *wrappers)
{
	const struct hot_builder *builder = wrappers->builder;
	CLEANUP(freep) uint64_t *total_ns = xzalloc((builder->stacks + 1) * sizeof *total_ns);
	CLEANUP(freep) uint64_t *once = xzalloc((builder->stacks + 1) * sizeof *once);
	CLEANUP(freep) uint64_t *again = xzalloc((builder->stacks + 1) * sizeof *again);

	add_selfs(wrappers, total_ns);
	for (uint32_t i = 1; i <= builder->stacks; i++) {
		const uint32_t caller = hot_caller_of(builder, i);
		const uint32_t number = wrappers->candidate[hot_function_of(builder, i).n];
		const uint64_t bit = number ? UINT64_C(1) << (number - 1) : 0;

		if (bit & ~once[caller])
			sum_add(&wrappers->candidates[number - 1].total_ns, total_ns[i],
				&wrappers->is_saturated);
		else if (bit & ~again[caller])
			sum_add(&wrappers->candidates[number - 1].again_ns, total_ns[i],
				&wrappers->is_saturated);
		again[i] = again[caller] | (once[caller] & bit);
		once[i] = once[caller] | bit;
	}
}

void hot_find_wrappers(struct hot_builder *builder)
{
	struct wrappers wrappers = { .builder = builder };

	wrappers.nearest = xzalloc((builder->stacks + 1) * sizeof *wrappers.nearest);
	wrappers.candidate = xzalloc((profile_function_count(builder->profile) + 1) *
				     sizeof *wrappers.candidate);
	find_candidates(&wrappers);
	if (wrappers.count > 0)
		add_totals(&wrappers);
	for (uint32_t i = 0; i < wrappers.count; i++) {
		const uint64_t total_ns = wrappers.candidates[i].total_ns;

		if (wrappers.candidates[i].again_ns > hot_percent_of(total_ns, AGAIN) &&
		    wrappers.candidates[i].self_ns <= hot_percent_of(total_ns, SELF))
			builder->is_own[wrappers.candidates[i].function] = false;
	}
	freep(&wrappers.nearest);
	freep(&wrappers.candidate);
}
