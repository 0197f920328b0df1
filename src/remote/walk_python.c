/*
 * walk_python - merges Python's frames into a native walk (walk/python.h).
 *
 * From 3.11 on an activation of the eval loop identifies its frames by its address: they are
 * inserted after its native frame during the walk. Before 3.11 the walk leaves placeholders:
 * when it has reached the outermost frame both kinds are counted, and matched one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/locals.h"
#include "remote/walk.h"
#include "remote/walk_internal.h"
#include "target/python_lines.h"
#include "walk/python_code.h"

#define TABLE_MAX 65536U

void walk_python_begin(struct walk *walk)
{
	struct remote *remote = walk->remote;

	if (!remote->python || walk->states->python == 0)
		return;
	walk->has_python = python_begin(walk->mem, remote_python_layout(remote->python),
					walk->states->python, 0, &walk->python) >= 0;
}

static uint32_t line_of(struct mem *mem, const struct python_layout *layout,
			const struct python_code *parts, uint32_t instruction)
{
	uint64_t length;

	if (mem_read(mem, &length, sizeof length, parts->table + layout->offsets.bytes_length) <
		    0 ||
	    length > TABLE_MAX || instruction == CODE_NO_INSTRUCTION)
		return 0;
	CLEANUP(freep) uint8_t *table = xmalloc(length + 1);

	if (mem_read(mem, table, (uint32_t)length, parts->table + layout->offsets.bytes_data) <
	    0)
		return 0;
	return python_line_of(layout->table, table, length, parts->first_line, instruction);
}

/* Stores a Python frame; false if its code object cannot be read. */
static bool push(struct walk *walk, const struct python_frame *frame)
{
	const struct python_layout *layout = walk->python.layout;
	struct stack_frame out = { .kind = STACK_PYTHON,
				   .object = frame->address,
				   .code = frame->code,
				   .instruction = frame->instruction };
	struct python_code parts;
	struct name_text text;

	if (python_code_read(walk->mem, layout, frame->code, &parts) < 0 ||
	    python_text_read(walk->mem, layout,
			     parts.qualified_name ? parts.qualified_name : parts.name,
			     &text) < 0)
		return false;
	out.name = remote_keep_name(walk->remote, &text);
	if (parts.qualified_name && python_text_read(walk->mem, layout, parts.name, &text) >= 0)
		out.plain_name = remote_keep_name(walk->remote, &text);
	python_text_read(walk->mem, layout, parts.file, &text);
	out.file = remote_keep_name(walk->remote, &text);
	out.first_line = parts.first_line;
	out.line = line_of(walk->mem, layout, &parts, frame->instruction);
	if (walk->remote->has_locals)
		locals_read(walk->remote, frame->address, frame->code, &out.local_first,
			    &out.local_count);
	stack_push(walk->stack, &out);
	return true;
}

static void fail(struct walk *walk, enum walk_status status)
{
	if (walk->python_status == WALK_COMPLETE)
		walk->python_status = (uint8_t)status;
}

/* Stores the frames of the activation that was entered; returns the last step's result. */
static enum python_step push_activation(struct walk *walk, uint64_t sp, uint64_t cfa)
{
	enum python_step step = python_enter(walk->mem, &walk->python, sp, cfa);
	struct python_frame frame;

	for (uint32_t i = 0; i < 2 * STACK_FRAMES_MAX; i++) {
		if (walk->stack->is_full)
			return PYTHON_END;
		if (step != PYTHON_FRAME && step != PYTHON_SKIP)
			return step;
		step = python_next(walk->mem, &walk->python, &frame);
		if (step == PYTHON_FRAME && !push(walk, &frame))
			return PYTHON_BROKEN;
	}
	return PYTHON_BROKEN;
}

/* Stores the frames of an activation of 3.11 and later. */
static void meet_activation(struct walk *walk, uint64_t sp, uint64_t cfa, bool is_exact)
{
	const size_t before = walk->stack->count;
	const enum python_step step = push_activation(walk, sp, cfa);

	walk->is_doubtful |= is_exact && walk->activations == 1 && step == PYTHON_END;
	if (step == PYTHON_END || step == PYTHON_NONE)
		return;
	walk->stack->count = before;
	if (!is_exact || walk->activations > 1)
		fail(walk, step == PYTHON_STRAY ? WALK_CODE_UNMATCHED : WALK_CODE_UNREADABLE);
	walk->has_given_up = python_pass(walk->mem, &walk->python) < 0;
	if (walk->has_given_up)
		fail(walk, WALK_CODE_UNMATCHED);
}

bool walk_python_meet(struct walk *walk, uint64_t sp, uint64_t cfa, bool is_exact)
{
	walk->activations++;
	if (walk->has_given_up)
		return true;
	if (walk->python.layout->chain == PYTHON_CHAIN_OBJECTS) {
		stack_push(walk->stack, &(struct stack_frame){ .kind = STACK_PLACE });
		return true;
	}
	if (walk->python.has_ended && !remote_python_has_interpreters(walk->remote)) {
		walk->stack->count--;
		return false;
	}
	meet_activation(walk, sp, cfa, is_exact);
	return true;
}

/* Stores all frames from the current one outwards; false if they cannot be read. */
static bool push_linked(struct walk *walk)
{
	struct python_frame frame;

	for (uint32_t i = 0; i < 2 * STACK_FRAMES_MAX; i++) {
		const enum python_step step =
			python_linked_next(walk->mem, &walk->python, &frame);

		if (step == PYTHON_END || walk->stack->is_full)
			return true;
		if (step != PYTHON_SKIP && (step != PYTHON_FRAME || !push(walk, &frame)))
			return false;
	}
	return false;
}

/* Truncates the stack at the first placeholder: further out only Python's frames follow. */
static void drop_places(struct remote_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		if (stack->frames[i].kind == STACK_PLACE)
			stack->count = i;
	}
}

/* The native walk was cut short: adds the remaining Python frames without native ones. */
static void end_cut(struct walk *walk)
{
	struct remote_stack *stack = walk->stack;
	const uint8_t ending = stack->ending;

	if (walk->has_given_up || walk->python_status != WALK_COMPLETE || walk->is_doubtful)
		return;
	if (walk->python.layout->chain == PYTHON_CHAIN_OBJECTS)
		drop_places(stack);
	else if (python_outer_begin(walk->mem, &walk->python) < 0)
		return;
	const size_t before = stack->count;

	if (!push_linked(walk))
		stack->count = before;
	else if (stack->count > before)
		stack->ending = (uint8_t)walk_status_of_interpreted(ending);
	else if (walk->activations > 0 && walk->is_astray) /* as in agent/.../python/outer.c */
		stack->ending = WALK_SWITCHED;
}

/*
 * Replaces placeholders by the frames from number `first` on, after leaving out the first
 * `skipped` placeholders.
 */
static void fill_places(struct remote_stack *stack, size_t first, size_t skipped)
{
	const size_t count = stack->count - first;
	struct stack_frame *frames = xreallocarray(NULL, count + 1, sizeof *frames);
	size_t to = 0, next = 0;

	memcpy(frames, stack->frames + first, count * sizeof *frames);
	for (size_t i = 0; i < first; i++) {
		if (stack->frames[i].kind != STACK_PLACE)
			stack->frames[to++] = stack->frames[i];
		else if (skipped > 0)
			skipped--;
		else
			stack->frames[to++] = frames[next++];
	}
	stack->count = to;
	free(frames);
}

/* For 2.7 to 3.10, after a complete native walk. */
static void end_objects(struct walk *walk)
{
	struct remote_stack *stack = walk->stack;
	const size_t first = stack->count;
	size_t count;

	if (!push_linked(walk)) {
		stack->count = first;
		drop_places(stack);
		fail(walk, WALK_CODE_UNREADABLE);
		return;
	}
	count = stack->count - first;
	if (count == walk->activations || count + 1 == walk->activations) {
		fill_places(stack, first, walk->activations - count);
		return;
	}
	/*
	 * The counts differ, so frames cannot be matched: all Python frames replace what is
	 * outwards of the first placeholder.
	 */
	for (size_t i = 0; i < first; i++) {
		if (stack->frames[i].kind != STACK_PLACE)
			continue;
		memmove(stack->frames + i, stack->frames + first,
			count * sizeof *stack->frames);
		stack->count = i + count;
		break;
	}
	fail(walk, WALK_CODE_UNMATCHED);
}

void walk_python_end(struct walk *walk)
{
	struct remote_stack *stack = walk->stack;

	if (!walk->has_python)
		return;
	if (walk_status_of_interpreted(stack->ending) != stack->ending && !walk->remote->ruby) {
		end_cut(walk);
		return;
	}
	if (walk->python.layout->chain == PYTHON_CHAIN_OBJECTS && walk->activations > 0) {
		if (stack->ending == WALK_COMPLETE)
			end_objects(walk);
		else
			drop_places(stack);
	} else if (stack->ending == WALK_COMPLETE && walk->activations > 0 &&
		   !walk->has_given_up && !python_is_over(&walk->python)) {
		fail(walk, WALK_CODE_UNMATCHED);
	}
	if (stack->ending == WALK_COMPLETE)
		stack->ending = walk->python_status;
}
