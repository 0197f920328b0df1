#include "remote/stack.h"

#include <stdlib.h>

#include "base/memory.h"

bool stack_push(struct remote_stack *stack, const struct stack_frame *frame)
{
	if (stack->count == STACK_FRAMES_MAX) {
		stack->is_full = true;
		return false;
	}
	stack->frames = array_grow(stack->frames, stack->count, &stack->capacity,
				   sizeof *stack->frames);
	stack->frames[stack->count++] = *frame;
	return true;
}

void stack_clear(struct remote_stack *stack)
{
	stack->count = 0;
	stack->ending = 0;
	stack->needs_frame_pointer = false;
	stack->is_full = false;
}

void stack_done(struct remote_stack *stack)
{
	free(stack->frames);
	*stack = (struct remote_stack){ 0 };
}

bool stack_has_interpreted(const struct remote_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		if (stack->frames[i].kind != STACK_NATIVE)
			return true;
	}
	return false;
}
