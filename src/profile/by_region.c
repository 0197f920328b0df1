#include "profile/by_region.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/group_waits.h"
#include "profile/groups.h"
#include "profile/sum.h"

struct regions {
	const struct profile *profile;
	uint32_t *row_of_function; /* by id; 0: not a region, and the row of time without one */
	uint32_t *nearest;         /* by a stack's id: its innermost region's stack, or 0 */
	uint32_t *counted;         /* by row: the last weight counted in its total */
	struct groups *groups;
	struct waits_builder *waits;
};

static uint32_t row_of_stack(const struct regions *regions, uint32_t stack)
{
	const struct stack *at =
		profile_get_stack(regions->profile, (struct stack_id){ stack });
	const struct frame *frame = at ? profile_get_frame(regions->profile, at->frame) : NULL;

	return frame ? regions->row_of_function[frame->function.n] : 0;
}

static void find_rows(struct regions *regions)
{
	const size_t count = profile_function_count(regions->profile);

	regions->row_of_function = xzalloc((count + 1) * sizeof *regions->row_of_function);
	regions->groups->rows = xzalloc((count + 1) * sizeof *regions->groups->rows);
	regions->groups->rows[0].name = "[no region]";
	regions->groups->count = 1;
	for (uint32_t i = 1; i <= count; i++) {
		const struct function_id id = { i };
		const struct function *function = profile_get_function(regions->profile, id);

		if (function->language != LANGUAGE_REGION)
			continue;
		regions->row_of_function[i] = (uint32_t)regions->groups->count;
		regions->groups->rows[regions->groups->count++] =
			(struct group){ .function = id, .name = function->name };
	}
}

/* Finds each stack's innermost region; callers have lower ids. */
static void find_nearest(struct regions *regions)
{
	const size_t count = profile_stack_count(regions->profile);

	regions->nearest = xzalloc((count + 1) * sizeof *regions->nearest);
	for (uint32_t i = 1; i <= count; i++) {
		const struct stack *stack =
			profile_get_stack(regions->profile, (struct stack_id){ i });

		regions->nearest[i] =
			row_of_stack(regions, i) != 0 ? i : regions->nearest[stack->parent.n];
	}
}

static void add_calls(struct regions *regions, const struct weight *weight, bool is_primitive)
{
	struct cost *cost = &regions->groups->rows[row_of_stack(regions, weight->stack.n)].cost;

	sum_add(&cost->calls, weight->calls, &regions->groups->is_saturated);
	if (is_primitive)
		sum_add(&cost->primitive_calls, weight->calls, &regions->groups->is_saturated);
}

/* number: of the weight, counted from 1. */
static void add_weight(struct regions *regions, const struct weight *weight, uint32_t number)
{
	struct call_times times = profile_get_call_times(regions->profile, number - 1);
	struct groups *groups = regions->groups;
	uint32_t stack = regions->nearest[weight->stack.n];
	struct cost *self = &groups->rows[row_of_stack(regions, stack)].cost;
	const uint32_t own_row = row_of_stack(regions, weight->stack.n);
	uint32_t times_own = 0;

	/* A call's duration is not how long the region was open. */
	if (own_row == 0) {
		times.shortest_ns = CALL_TIMES_NONE.shortest_ns;
		times.longest_ns = CALL_TIMES_NONE.longest_ns;
	}
	call_times_add(&self->times, &times, &groups->is_saturated);
	sum_add(&self->self_ns, weight->ns, &groups->is_saturated);
	sum_add(&self->self_samples, weight->samples, &groups->is_saturated);
	sum_add(&groups->ns, weight->ns, &groups->is_saturated);
	sum_add(&groups->samples, weight->samples, &groups->is_saturated);
	do {
		const uint32_t row = row_of_stack(regions, stack);
		struct cost *cost = &groups->rows[row].cost;

		times_own += row == own_row;
		if (regions->counted[row] != number) {
			sum_add(&cost->total_ns, weight->ns, &groups->is_saturated);
			sum_add(&cost->total_samples, weight->samples, &groups->is_saturated);
			sum_add(&cost->raw_total_ns, times.raw_ns, &groups->is_saturated);
			group_waits_add(regions->waits, row, weight);
		}
		regions->counted[row] = number;
		if (stack != 0)
			stack = regions->nearest[profile_get_stack(regions->profile,
								   (struct stack_id){ stack })
							 ->parent.n];
	} while (stack != 0);
	if (own_row != 0)
		add_calls(regions, weight, times_own == 1);
}

static void find_intervals(const struct regions *regions, const struct filter *filter)
{
	const size_t stacks = profile_stack_count(regions->profile);
	CLEANUP(freep) uint32_t *parents = xzalloc((stacks + 1) * sizeof *parents);
	CLEANUP(freep) uint32_t *rows = xzalloc((stacks + 1) * sizeof *rows);

	for (uint32_t i = 1; i <= stacks; i++) {
		parents[i] =
			profile_get_stack(regions->profile, (struct stack_id){ i })->parent.n;
		rows[i] = row_of_stack(regions, regions->nearest[i]);
	}
	groups_find_intervals(regions->groups, &(struct interval_terms){
						       .profile = regions->profile,
						       .filter = filter,
						       .parents = parents,
						       .rows = rows,
						       .place_count = stacks + 1,
						       .row_count = regions->groups->count,
					       });
}

void groups_make_by_region(const struct profile *profile, const struct filter *filter,
			   struct groups *out)
{
	struct regions regions = { .profile = profile, .groups = out };

	*out = (struct groups){ .is_saturated = profile_is_saturated(profile) };
	find_rows(&regions);
	for (size_t i = 0; i < out->count; i++)
		out->rows[i].cost.times = CALL_TIMES_NONE;
	find_nearest(&regions);
	regions.waits = group_waits_begin(out, profile);
	regions.counted = xzalloc(out->count * sizeof *regions.counted);
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (filter_keeps(filter, weight))
			add_weight(&regions, weight, (uint32_t)i + 1);
	}
	group_waits_end(regions.waits);
	find_intervals(&regions, filter);
	free(regions.row_of_function);
	free(regions.nearest);
	free(regions.counted);
}
