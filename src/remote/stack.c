#include "remote/stack.h"

#include <stdlib.h>
#include <time.h>
#include <string.h>

#include "base/memory.h"

uint64_t stack_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static bool is_too_late(const struct remote_stack *stack)
{
	return stack->until_ns != 0 && stack->count % STACK_FRAMES_A_LOOK == 0 &&
	       stack_clock_ns() > stack->until_ns;
}

bool stack_push(struct remote_stack *stack, const struct stack_frame *frame)
{
	if (stack->count == STACK_FRAMES_MAX || is_too_late(stack)) {
		stack->is_full = true;
		return false;
	}
	stack->frames = array_grow(stack->frames, stack->count, &stack->capacity,
				   sizeof *stack->frames);
	stack->frames[stack->count++] = *frame;
	return true;
}

bool stack_insert(struct remote_stack *stack, size_t index, const struct stack_frame *frame)
{
	if (!stack_push(stack, frame))
		return false;
	memmove(stack->frames + index + 1, stack->frames + index,
		(stack->count - 1 - index) * sizeof *stack->frames);
	stack->frames[index] = *frame;
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
