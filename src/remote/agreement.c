#include "remote/agreement.h"

#include "remote/stack.h"

/* The next interpreted frame inwards of frame *at; NULL: there is none. */
static struct stack_frame *next_inner(const struct remote_stack *stack, size_t *at)
{
	while (*at > 0) {
		struct stack_frame *frame = &stack->frames[--*at];

		if (frame->kind != STACK_NATIVE)
			return frame;
	}
	return NULL;
}

/* Equal names have equal addresses, because each is kept once (process.h). */
static bool is_same(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->name == b->name && a->file == b->file &&
	       a->first_line == b->first_line && a->object == b->object && a->code == b->code;
}

size_t agreement_mark(const struct remote_stack *before, struct remote_stack *now)
{
	size_t at = now->count, at_before = before->count, doubtful = 0;
	struct stack_frame *frame;
	bool agrees = true;

	while ((frame = next_inner(now, &at)) != NULL) {
		const struct stack_frame *other =
			agrees ? next_inner(before, &at_before) : NULL;

		agrees = other && !frame->is_doubtful && is_same(frame, other);
		frame->is_doubtful = !agrees;
		doubtful += !agrees;
		/* The caller has moved to another line, so it has made another call since. */
		agrees = agrees && frame->line == other->line;
	}
	return doubtful;
}
