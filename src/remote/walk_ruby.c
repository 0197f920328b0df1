/*
 * walk_ruby - merges Ruby's frames into a native walk (walk/ruby.h).
 *
 * Ruby's control frames form a complete stack of their own. Each call of rb_vm_exec() on the
 * native stack executes the frames up to the first with is_last; C methods among these were
 * called from it, so they are placed further in than its native frame
 * (docs/decisions/0019-ruby-frames.md).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/walk.h"
#include "remote/walk_internal.h"
#include "walk/ruby.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"

/* Ruby's frames, innermost first. */
struct rubies {
	struct remote_stack stack;
	size_t activations;
};

void walk_ruby_meet(struct walk *walk, uint64_t address)
{
	const struct ruby_layout *layout = remote_ruby_layout(walk->remote->ruby);

	if (code_ranges_have(layout->core, address)) {
		if (walk->ruby_marks == 0 && walk->ruby_core == 0)
			walk->ruby_core = address;
		return;
	}
	if (!code_ranges_have(layout->loop, address))
		return;
	walk->ruby_marks++;
	stack_push(walk->stack, &(struct stack_frame){ .kind = STACK_MARK });
}

static bool push_code(struct walk *walk, const struct ruby_code *code, uint8_t kind,
		      uint32_t line, struct rubies *rubies)
{
	const struct ruby_layout *layout = remote_ruby_layout(walk->remote->ruby);
	struct name_text name, qualified, file;

	if (ruby_code_texts(walk->mem, layout, code, &name, &qualified, &file) < 0)
		return false;
	return stack_push(
		&rubies->stack,
		&(struct stack_frame){
			.kind = kind,
			.name = remote_keep_name(walk->remote,
						 qualified.length > 0 ? &qualified : &name),
			.plain_name = qualified.length > 0
					      ? remote_keep_name(walk->remote, &name)
					      : NULL,
			.file = remote_keep_name(walk->remote, &file),
			.line = line == RUBY_NO_LINE ? 0 : line,
			.first_line = code->first_line,
		});
}

/* Records the control frame's address in the last stored frame. */
static bool at_address(struct rubies *rubies, uint64_t address)
{
	rubies->stack.frames[rubies->stack.count - 1].object = address;
	return true;
}

/*
 * Stores the innermost frame of compiled Ruby, and the operation it executes without a frame.
 */
static bool push_top(struct walk *walk, const struct ruby_frame *frame, struct rubies *rubies)
{
	const struct ruby_layout *layout = remote_ruby_layout(walk->remote->ruby);
	struct ruby_leaves leaves;
	struct ruby_code code;

	ruby_leaves_read(walk->mem, layout, frame, &leaves);
	const struct ruby_leaf *leaf = ruby_leaves_choose(layout, &leaves, walk->ruby_core);

	if (walk->ruby_core != 0 && ruby_code_of_leaf(walk->mem, layout, leaf, &code) >= 0)
		push_code(walk, &code, STACK_RUBY_C, 0, rubies);
	return ruby_code_read(walk->mem, layout, frame, &code) >= 0 &&
	       push_code(walk, &code, STACK_RUBY,
			 ruby_line_of(walk->mem, layout, frame, leaf->stands_at), rubies) &&
	       at_address(rubies, frame->address);
}

static bool push_frame(struct walk *walk, const struct ruby_frame *frame, bool is_top,
		       struct rubies *rubies)
{
	const struct ruby_layout *layout = remote_ruby_layout(walk->remote->ruby);
	const bool is_code = frame->kind == RUBY_FRAME_ISEQ;
	struct ruby_code code;

	if (is_code && is_top && frame->pc != 0)
		return push_top(walk, frame, rubies);
	if ((!is_code && frame->kind != RUBY_FRAME_C) || frame->is_repeated)
		return true;
	return ruby_code_read(walk->mem, layout, frame, &code) >= 0 &&
	       push_code(walk, &code, is_code ? STACK_RUBY : STACK_RUBY_C,
			 is_code && frame->pc != 0 ? ruby_line_of(walk->mem, layout, frame, 0)
						   : RUBY_NO_LINE,
			 rubies) &&
	       at_address(rubies, frame->address);
}

/* Marks the last stored frame as the outermost of its call of the loop. */
static void mark_last(struct rubies *rubies)
{
	struct remote_stack *stack = &rubies->stack;

	if (stack->count == 0 || stack->frames[stack->count - 1].is_last)
		return;
	stack->frames[stack->count - 1].is_last = true;
	rubies->activations++;
}

/* False: the frames could not be read up to the outermost. */
static bool read_frames(struct walk *walk, struct rubies *rubies)
{
	struct ruby_walk its = { 0 };
	struct ruby_frame frame;

	if (ruby_begin(walk->mem, remote_ruby_layout(walk->remote->ruby), walk->states->ruby,
		       &its) < 0)
		return false;
	its.is_settled = walk->is_resting && walk->ruby_core == 0;
	for (uint32_t i = 0; i < STACK_FRAMES_MAX; i++) {
		const enum ruby_step step = ruby_next(walk->mem, &its, &frame);

		if (step != RUBY_FRAME)
			return step == RUBY_END;
		if (!push_frame(walk, &frame, i == 0, rubies))
			return false;
		if (frame.is_last)
			mark_last(rubies);
	}
	return false;
}

/* The merged stack being built, innermost first. */
struct merge {
	const struct ruby_layout *layout;
	const struct rubies *rubies;
	struct remote_stack out;
	size_t next;  /* next Ruby frame to store */
	size_t marks; /* places remaining */
};

/* The end of the next activation's frames; the outermost activation gets all that remain. */
static size_t end_of_activation(const struct merge *merge)
{
	const struct remote_stack *stack = &merge->rubies->stack;
	size_t end = merge->next;

	while (end < stack->count && !stack->frames[end].is_last)
		end++;
	return merge->marks <= 1 || end >= stack->count ? stack->count : end + 1;
}

static void push_ruby(struct merge *merge, size_t end)
{
	while (merge->next < end)
		stack_push(&merge->out, &merge->rubies->stack.frames[merge->next++]);
}

static bool is_code(const struct ruby_layout *layout, const struct stack_frame *frame)
{
	return frame->kind == STACK_NATIVE && (code_ranges_have(layout->core, frame->address) ||
					       code_ranges_have(layout->loop, frame->address));
}

/* Stores the native frames [from, mark) of an activation, and its Ruby frames. */
static void push_activation(struct merge *merge, const struct remote_stack *natives,
			    size_t from, size_t mark)
{
	const size_t end = end_of_activation(merge);
	size_t code = mark;

	while (code > from && is_code(merge->layout, &natives->frames[code - 1]))
		code--;
	for (size_t i = from; i < code; i++)
		stack_push(&merge->out, &natives->frames[i]);
	while (merge->next < end &&
	       merge->rubies->stack.frames[merge->next].kind == STACK_RUBY_C &&
	       !merge->rubies->stack.frames[merge->next].is_last)
		stack_push(&merge->out, &merge->rubies->stack.frames[merge->next++]);
	for (size_t i = code; i < mark; i++)
		stack_push(&merge->out, &natives->frames[i]);
	push_ruby(merge, end);
	merge->marks--;
}

static void merge_stacks(struct merge *merge, const struct remote_stack *natives, bool fits)
{
	size_t from = 0;
	bool has_skipped = !fits || merge->marks <= merge->rubies->activations;

	/* The innermost activation may have no frames yet. */
	if (!has_skipped)
		merge->marks--;
	/* Or there are frames of an activation that has no native frame yet. */
	if (fits && merge->rubies->activations > merge->marks) {
		merge->marks++;
		push_ruby(merge, end_of_activation(merge));
		merge->marks--;
	}
	if (!fits)
		merge->marks = 1;
	for (size_t i = 0; i < natives->count; i++) {
		if (natives->frames[i].kind != STACK_MARK)
			continue;
		if (has_skipped) {
			push_activation(merge, natives, from, i);
		} else {
			for (size_t j = from; j < i; j++)
				stack_push(&merge->out, &natives->frames[j]);
			has_skipped = true;
		}
		from = i + 1;
		if (!fits)
			return;
	}
	for (size_t i = from; i < natives->count; i++)
		stack_push(&merge->out, &natives->frames[i]);
	push_ruby(merge, merge->rubies->stack.count);
}

static void take_places_away(struct remote_stack *stack)
{
	size_t count = 0;

	for (size_t i = 0; i < stack->count; i++) {
		if (stack->frames[i].kind != STACK_MARK)
			stack->frames[count++] = stack->frames[i];
	}
	stack->count = count;
}

static void merge_into(struct walk *walk, const struct rubies *rubies)
{
	struct remote_stack *stack = walk->stack;
	const bool is_whole = stack->ending == WALK_COMPLETE;
	const bool fits = is_whole && rubies->activations + 1 >= walk->ruby_marks &&
			  rubies->activations <= walk->ruby_marks + 1;
	struct merge merge = {
		.layout = remote_ruby_layout(walk->remote->ruby),
		.rubies = rubies,
		.marks = walk->ruby_marks,
	};

	merge_stacks(&merge, stack, fits);
	if (!is_whole)
		merge.out.ending = (uint8_t)walk_status_of_interpreted(stack->ending);
	else
		merge.out.ending = fits ? WALK_COMPLETE : WALK_CODE_UNMATCHED;
	merge.out.needs_frame_pointer = stack->needs_frame_pointer;
	merge.out.is_full = stack->is_full || merge.out.is_full;
	stack_done(stack);
	*stack = merge.out;
}

void walk_ruby_end(struct walk *walk)
{
	struct rubies rubies = { .stack = { .until_ns = walk->stack->until_ns } };

	if (!walk->remote->ruby || walk->states->ruby == 0)
		return;
	if (read_frames(walk, &rubies) && rubies.stack.count > 0) {
		merge_into(walk, &rubies);
	} else {
		take_places_away(walk->stack);
		if (walk->stack->ending == WALK_COMPLETE && walk->ruby_marks > 0)
			walk->stack->ending = WALK_CODE_UNREADABLE;
	}
	stack_done(&rubies.stack);
}
