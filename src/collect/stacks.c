#include "collect/stacks.h"

#include <stdbool.h>
#include <string.h>

void stacks_init(struct stacks *stacks)
{
	*stacks = (struct stacks){ .limit = STACKS_LIMIT, .limit_bytes = STACKS_LIMIT_BYTES };
}

static void epoch_done(struct stacks_epoch *epoch)
{
	table_done(&epoch->index);
	arena_done(&epoch->frames);
}

void stacks_done(struct stacks *stacks)
{
	epoch_done(&stacks->young);
	epoch_done(&stacks->old);
}

struct known_stack *stacks_find(const struct stacks *stacks, uint32_t image_row, uint64_t hash)
{
	uint64_t stack;

	if (!table_get(&stacks->young.index, image_row, hash, &stack) &&
	    !table_get(&stacks->old.index, image_row, hash, &stack))
		return NULL;
	return (struct known_stack *)(uintptr_t)stack;
}

void stacks_add(struct stacks *stacks, uint32_t image_row, uint64_t hash,
		const uint64_t *frames, size_t count)
{
	struct stacks_epoch *epoch = &stacks->young;
	const size_t bytes = sizeof(struct known_stack) + count * sizeof *frames;

	if (stacks_find(stacks, image_row, hash) != NULL)
		return;
	struct known_stack *stack = arena_alloc(&epoch->frames, bytes);

	stack->count = (uint32_t)count;
	memcpy(stack->frames, frames, count * sizeof *frames);
	epoch->bytes += bytes;
	*table_at(&epoch->index, image_row, hash, NULL) = (uintptr_t)stack;
}

void stacks_begin_round(struct stacks *stacks)
{
	const bool is_full = stacks->young.index.count >= stacks->limit ||
			     stacks->young.bytes >= stacks->limit_bytes;

	if (stacks->rounds++ == 0 || !is_full)
		return;
	epoch_done(&stacks->old);
	stacks->old = stacks->young;
	stacks->young = (struct stacks_epoch){ 0 };
	stacks->rounds = 0;
	stacks->epoch++;
}
