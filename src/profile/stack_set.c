#include "profile/stack_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_SLOTS ((size_t)64)

/* Fibonacci hashing: the middle bits depend on all of parent and frame. */
static size_t home_of(const struct stack_set *set, struct stack_id parent,
		      struct frame_id frame)
{
	uint64_t hash = ((uint64_t)parent.n << 32 | frame.n) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
	return (size_t)(hash >> 24) & (set->slot_count - 1);
}

/* The slot with the stack's id, or the free one where it belongs. At least one must be free. */
static uint32_t *find_slot(const struct stack_set *set, struct stack_id parent,
			   struct frame_id frame)
{
	size_t i = home_of(set, parent, frame);

	while (set->slots[i] != 0) {
		const struct stack *there = &set->stacks[set->slots[i] - 1];

		if (there->parent.n == parent.n && there->frame.n == frame.n)
			break;
		i = (i + 1) & (set->slot_count - 1);
	}
	return &set->slots[i];
}

static void grow(struct stack_set *set)
{
	set->slot_count = set->slot_count == 0 ? FIRST_SLOTS : set->slot_count * 2;
	free(set->slots);
	set->slots = xreallocarray(NULL, set->slot_count, sizeof *set->slots);
	memset(set->slots, 0, set->slot_count * sizeof *set->slots);
	for (size_t i = 0; i < set->count; i++)
		*find_slot(set, set->stacks[i].parent, set->stacks[i].frame) = (uint32_t)i + 1;
}

struct stack_id stack_set_add(struct stack_set *set, struct stack_id parent,
			      struct frame_id frame)
{
	/* At most three quarters full. */
	if (set->count >= set->slot_count - set->slot_count / 4)
		grow(set);
	uint32_t *slot = find_slot(set, parent, frame);

	if (*slot == 0) {
		const uint32_t depth = parent.n == 0 ? 1 : set->stacks[parent.n - 1].depth + 1;

		set->stacks = array_grow(set->stacks, set->count, &set->capacity,
					 sizeof *set->stacks);
		set->stacks[set->count++] =
			(struct stack){ .parent = parent, .frame = frame, .depth = depth };
		*slot = (uint32_t)set->count;
	}
	return (struct stack_id){ *slot };
}

void stack_set_done(struct stack_set *set)
{
	free(set->stacks);
	free(set->slots);
	*set = (struct stack_set){ 0 };
}
