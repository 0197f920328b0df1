#include "remote/python_with.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_acquired.h"
#include "remote/python_block.h"
#include "remote/python_lock.h"
#include "remote/stack.h"
#include "walk/python.h"
#include "walk/python_builtin.h"
#include "walk/python_thread.h"

/* From 3.14 on __exit__ is unbound: the slot after it holds its object. */
#define FIRST_UNBOUND 0x030e0000U
/* PyMethodObject: a function and the object it is bound to. */
#define METHOD_SELF 24U
/* Frames to search per stack. */
#define FRAMES_MAX 1000U
/* Locks that one function has taken by acquire(). */
#define ACQUIRED_MAX 8U
/* Steps of the search for these, per stack: 10 ms. */
#define STEPS_MAX 524288U

struct with_search {
	struct remote *remote;
	const struct python_layout *layout;
	uint32_t steps_left; /* as in python_load.h */
};

/* A held lock, the number of its frame, and what took it. */
struct found {
	uint64_t lock;
	size_t frame;
	struct python_block block; /* of the `with` */
	uint32_t acquired_at;      /* or the instruction of acquire() */
	bool is_acquired;
};

static bool is_exit(const struct with_search *search, const struct python_builtin *builtin)
{
	char name[sizeof "__exit__"];

	return mem_read(&search->remote->mem, name, sizeof name, builtin->name) >= 0 &&
	       memcmp(name, "__exit__", sizeof name) == 0;
}

/*
 * Slots below a handler's depth hold only iterators and blocks' __exit__, so a method of a
 * Condition there is its __exit__.
 */
static uint64_t lock_by_method(const struct with_search *search, uint64_t slot, uint64_t object)
{
	struct mem *mem = &search->remote->mem;

	if (search->layout->version >= FIRST_UNBOUND)
		return python_condition_lock(search->remote, python_slot_object(python_word_at(
								     mem, slot + sizeof slot)));
	return python_condition_lock(
		search->remote,
		python_word_at(mem, object + METHOD_SELF + python_head_more(search->layout)));
}

/* The lock of the block whose __exit__ is in the slot; 0: there is none. */
static uint64_t lock_of(const struct with_search *search, uint64_t slot)
{
	const struct python_layout *layout = search->layout;
	struct mem *mem = &search->remote->mem;
	const uint64_t object = python_slot_object(python_word_at(mem, slot));
	struct python_builtin builtin;

	if (object == 0)
		return 0;
	if (python_builtin_read(mem, layout, object, &builtin) < 0)
		return lock_by_method(search, slot, object);
	if (!is_exit(search, &builtin))
		return 0;
	if (python_word_at(mem, object + layout->offsets.object_type) ==
	    layout->descriptor_type)
		return python_slot_object(python_word_at(mem, slot + sizeof slot));
	return python_slot_object(python_word_at(mem, object + layout->offsets.builtin_self));
}

/* Whether the frame is Condition.wait() on this lock, which releases it until it returns. */
static bool gives_away(const struct with_search *search, const struct python_frame *frame,
		       uint64_t lock)
{
	const struct python_layout *layout = search->layout;
	struct mem *mem = &search->remote->mem;

	return python_text_is(mem, layout,
			      python_word_at(mem, frame->code + layout->offsets.code_name),
			      "wait") &&
	       python_condition_lock(
		       search->remote,
		       python_slot_object(python_word_at(
			       mem, frame->address + layout->offsets.frame_locals))) == lock;
}

/*
 * Whether a frame inside of number `frame` has released the lock so. frames: innermost first.
 */
static bool is_given_away(const struct with_search *search, const struct python_frame *frames,
			  size_t frame, uint64_t lock)
{
	for (size_t i = 0; i < frame; i++) {
		if (gives_away(search, &frames[i], lock))
			return true;
	}
	return false;
}

/* Finds the `with` blocks of the frame of that number. */
static size_t find_withs(const struct with_search *search, const struct python_frame *frames,
			 size_t number, size_t most, struct found *out_found)
{
	struct python_block blocks[PYTHON_BLOCKS_MAX];
	const size_t block_count =
		python_blocks_of(search->remote, &frames[number], PYTHON_BLOCKS_WITH, blocks);
	struct python_slots slots;
	size_t count = 0;

	if (block_count == 0 ||
	    python_slots_of(&search->remote->mem, search->layout, &frames[number], &slots) < 0)
		return 0;
	/*
	 * __exit__ is the last slot that an exception in the block leaves; from 3.14 on the
	 * last but one.
	 */
	const uint32_t back = search->layout->version < FIRST_UNBOUND ? 1 : 2;

	for (size_t i = 0; i < block_count && count < most; i++) {
		const struct python_block *block = &blocks[i];
		const uint64_t slot =
			slots.begin + ((uint64_t)block->depth - back) * sizeof slot;
		const uint64_t lock =
			block->depth >= back && slot < slots.end ? lock_of(search, slot) : 0;

		if (lock != 0 && !is_given_away(search, frames, number, lock))
			out_found[count++] = (struct found){ .lock = lock,
							     .frame = number,
							     .block = *block };
	}
	return count;
}

/* Finds the locks that the function of the frame of that number has taken by acquire(). */
static size_t find_acquired(struct with_search *search, const struct python_frame *frames,
			    size_t number, size_t most, struct found *out_found)
{
	struct python_acquired acquired[ACQUIRED_MAX];
	const size_t acquired_count = python_acquired_in(
		search->remote, &frames[number], &search->steps_left, ACQUIRED_MAX, acquired);
	size_t count = 0;

	for (size_t i = 0; i < acquired_count && count < most; i++) {
		const uint64_t lock = acquired[i].lock;

		if (!is_given_away(search, frames, number, lock))
			out_found[count++] =
				(struct found){ .lock = lock,
						.frame = number,
						.acquired_at = acquired[i].instruction,
						.is_acquired = true };
	}
	return count;
}

static size_t find_in(struct with_search *search, const struct python_frame *frames,
		      size_t frame_count, size_t most, struct found *out_found)
{
	size_t count = 0;

	for (size_t i = 0; i < frame_count && count < most; i++) {
		count += find_withs(search, frames, i, most - count, out_found + count);
		count += find_acquired(search, frames, i, most - count, out_found + count);
	}
	return count;
}

static struct python_with described(const struct with_search *search, const struct found *found,
				    const struct python_frame *frame,
				    const struct stack_frame *row)
{
	const uint32_t instruction =
		found->is_acquired ? found->acquired_at
				   : python_block_setup(search->remote, frame, &found->block);

	return (struct python_with){
		.lock = found->lock,
		.frame = row,
		.line = python_instruction_line(search->remote, frame, instruction,
						row->first_line),
		.is_acquired = found->is_acquired,
	};
}

size_t python_withs(struct remote *remote, const struct remote_stack *stack, size_t most,
		    struct python_with *out_withs)
{
	struct with_search search = { .remote = remote,
				      .layout = remote_python_layout(remote->python),
				      .steps_left = STEPS_MAX };
	CLEANUP(freep) struct python_frame *frames = xzalloc(FRAMES_MAX * sizeof *frames);
	CLEANUP(freep) const struct stack_frame **rows = xzalloc(FRAMES_MAX * sizeof *rows);
	CLEANUP(freep) struct found *found = xzalloc((most + 1) * sizeof *found);
	size_t count = 0;

	for (size_t i = 0; i < stack->count && count < FRAMES_MAX; i++) {
		const struct stack_frame *row = &stack->frames[i];

		if (row->kind != STACK_PYTHON || row->is_doubtful)
			continue;
		rows[count] = row;
		frames[count++] = (struct python_frame){ .address = row->object,
							 .code = row->code,
							 .instruction = row->instruction };
	}
	count = find_in(&search, frames, count, most, found);
	for (size_t i = 0; i < count; i++)
		out_withs[i] = described(&search, &found[i], &frames[found[i].frame],
					 rows[found[i].frame]);
	return count;
}

/* Lists `most` frames at most. */
static size_t list_frames(struct remote *remote, uint64_t state, size_t most,
			  struct python_frame *out_frames)
{
	const struct python_layout *layout = remote_python_layout(remote->python);
	struct python_walk walk;
	size_t count = 0;

	if (python_begin(&remote->mem, layout, state, 0, &walk) < 0 ||
	    python_linked_begin(&remote->mem, &walk) < 0)
		return 0;
	for (size_t steps = 0; steps < 2 * (size_t)FRAMES_MAX && count < most; steps++) {
		const enum python_step step =
			python_linked_next(&remote->mem, &walk, &out_frames[count]);

		if (step == PYTHON_FRAME)
			count++;
		else if (step != PYTHON_SKIP)
			break;
	}
	return count;
}

size_t python_locks_held(struct remote *remote, uint64_t state, size_t most,
			 uint64_t *out_locks)
{
	struct with_search search = { .remote = remote,
				      .layout = remote_python_layout(remote->python),
				      .steps_left = STEPS_MAX };
	CLEANUP(freep) struct python_frame *frames = xzalloc(FRAMES_MAX * sizeof *frames);
	CLEANUP(freep) struct found *found = xzalloc((most + 1) * sizeof *found);
	const size_t count = find_in(
		&search, frames, list_frames(remote, state, FRAMES_MAX, frames), most, found);

	for (size_t i = 0; i < count; i++)
		out_locks[i] = found[i].lock;
	return count;
}

bool python_innermost(struct remote *remote, uint64_t state, struct python_frame *out_frame)
{
	return list_frames(remote, state, 1, out_frame) == 1;
}
