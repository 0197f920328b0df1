#include "collect/stacks/stacks.h"

#include <string.h>

#include "collect/stacks/epochs.h"

struct known_stack *stacks_find(const struct epochs *epochs, uint32_t image_row, uint64_t hash)
{
	return epochs_find(epochs, EPOCHS_STACK, image_row, hash);
}

void stacks_add(struct epochs *epochs, uint32_t image_row, uint64_t hash,
		const uint64_t *frames, size_t count)
{
	const size_t frames_bytes = count * sizeof *frames;

	if (stacks_find(epochs, image_row, hash) != NULL)
		return;
	struct known_stack *stack =
		epochs_add(epochs, EPOCHS_STACK, image_row, hash, sizeof *stack + frames_bytes);

	stack->count = (uint32_t)count;
	stack->epoch = epochs->number;
	memcpy(stack->frames, frames, frames_bytes);
}
