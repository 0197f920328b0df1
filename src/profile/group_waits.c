#include "profile/group_waits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/groups.h"
#include "profile/states.h"
#include "profile/sum.h"

/* The time that a row's threads waited in one system call. */
struct leaf {
	uint64_t ns, heaviest_ns;
	struct stack_id heaviest;
};

struct waits_builder {
	struct groups *groups;
	const struct profile *profile;
	struct table by_leaf; /* (row, function) to an index of leaves + 1 */
	struct leaf *leaves;
	size_t leaf_count, leaf_capacity;
};

struct waits_builder *group_waits_begin(struct groups *groups, const struct profile *profile)
{
	struct waits_builder *builder;

	if (!profile_is_wall(profile))
		return NULL;
	groups->waits = xzalloc((groups->count + 1) * sizeof *groups->waits);
	builder = xzalloc(sizeof *builder);
	builder->groups = groups;
	builder->profile = profile;
	return builder;
}

/* The function of the innermost frame; none if it is a bracketed row of fathom's own. */
static struct function_id leaf_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);
	const struct frame *frame = stack ? profile_get_frame(profile, stack->frame) : NULL;
	const struct function *function =
		frame ? profile_get_function(profile, frame->function) : NULL;

	if (!function || function->language == LANGUAGE_FATHOM)
		return (struct function_id){ 0 };
	return frame->function;
}

static struct leaf *leaf_at(struct waits_builder *builder, uint32_t row, uint32_t function)
{
	uint64_t *place = table_at(&builder->by_leaf, row, function, NULL);

	if (*place == 0) {
		builder->leaves = array_grow(builder->leaves, builder->leaf_count,
					     &builder->leaf_capacity, sizeof *builder->leaves);
		builder->leaves[builder->leaf_count] = (struct leaf){ 0 };
		*place = ++builder->leaf_count;
	}
	return &builder->leaves[*place - 1];
}

void group_waits_add(struct waits_builder *builder, uint32_t row, const struct weight *weight)
{
	if (!builder)
		return;
	struct groups *groups = builder->groups;
	struct group_waits *waits = &groups->waits[row];

	sum_add(&waits->ns[weight->state], weight->ns, &groups->is_saturated);
	if (weight->state == THREAD_STATE_RUNNING || weight->state == THREAD_STATE_RUNNABLE)
		return;
	const struct function_id function = leaf_of(builder->profile, weight->stack);

	if (!function.n)
		return;
	struct leaf *leaf = leaf_at(builder, row, function.n);

	sum_add(&leaf->ns, weight->ns, &groups->is_saturated);
	if (weight->ns > leaf->heaviest_ns) {
		leaf->heaviest_ns = weight->ns;
		leaf->heaviest = weight->stack;
	}
	if (leaf->ns <= waits->longest_ns && waits->longest.n != function.n)
		return;
	waits->longest = function;
	waits->longest_ns = leaf->ns;
	waits->longest_stack = leaf->heaviest;
}

void group_waits_end(struct waits_builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->groups->count; i++)
		builder->groups->rows[i].waits = &builder->groups->waits[i];
	table_done(&builder->by_leaf);
	free(builder->leaves);
	free(builder);
}
