/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_frames - CPython from 3.11 on: finds the frames of an activation by its stack addresses.
 *
 * A call from Python to Python stays in the loop: the new _PyInterpreterFrame is linked to its
 * caller by `previous`, and the loop goes on with it.  Each activation has a local variable on
 * the native stack:
 *
 *   3.11        a _PyCFrame, which points to the innermost frame.  The activation's last frame
 *   has
 *               is_entry.  PyThreadState.cframe points to the innermost activation's _PyCFrame.
 *   3.12        a _PyCFrame, and an _PyInterpreterFrame (the *shim*, owner 3), which follows the
 *               last frame.
 *   from 3.13   only the shim; PyThreadState.current_frame points to the innermost frame.
 *
 * Memory between the activation's stack pointer and its CFA belongs to no other activation, so no
 * counting is needed, and a part of the native stack that could not be walked does no harm.
 * Outer activations are found by the variable's distance from the CFA, which the compiler chose
 * and is the same for all.  (Following `previous` from one _PyCFrame to the next would be wrong:
 * the innermost may be incomplete.)
 *
 * Checked on the way: the frame that called the activation is the innermost one of the next
 * activation outwards.
 *
 * The first activation of a thread or a greenlet was called by no frame.  A greenlet runs on the
 * thread's stack in the place of another, and activations further out are not its own.
 */
#pragma once
#include "python_walk.h"

/* _PyInterpreterFrame.owner: enum _frameowner. */
#define PYTHON_OWNER_GENERATOR   1
#define PYTHON_OWNER_INTERPRETER 3 /* and above: no Python function's */

static inline int python_is_own(const struct python_walk *walk, u64 address)
{
	return address >= walk->low && address < walk->high;
}

/* Only the innermost activation can have no frames. */
static inline enum python_step python_frames_none(struct python_walk *walk)
{
	if (walk->has_begun || walk->was_unbegun)
		return PYTHON_STRAY;
	walk->was_unbegun = 1;
	walk->frame = walk->first;
	return PYTHON_NONE;
}

static inline enum python_step python_enter_cframe(struct mem *mem, struct python_walk *walk)
{
	u64 cframe = walk->high - walk->distance;

	if (!walk->has_begun) {
		cframe = walk->first;
		if (!python_is_own(walk, cframe))
			return python_frames_none(walk);
		walk->distance = walk->high - cframe;
	}
	walk->has_begun = 1;
	if (!python_is_own(walk, cframe))
		return PYTHON_STRAY;
	if (python_read(mem, &walk->frame, cframe, walk->layout->offsets.cframe_frame) < 0)
		return PYTHON_BROKEN;
	return !walk->has_outer || walk->frame == walk->outer ? PYTHON_SKIP : PYTHON_STRAY;
}

/*
 * Enters an activation of the loop, whose native frame reaches from sp to cfa.  Call from the
 * innermost outwards, without leaving any out.  PYTHON_SKIP: python_next() goes through its
 * frames.
 */
static inline enum python_step python_enter(struct mem *mem, struct python_walk *walk, u64 sp,
					    u64 cfa)
{
	walk->low = sp;
	walk->high = cfa;
	walk->is_at_end = 0;
	if (walk->layout->chain != PYTHON_CHAIN_SHIM)
		return python_enter_cframe(mem, walk);
	if (walk->has_outer)
		walk->frame = walk->outer;
	return PYTHON_SKIP;
}

/*
 * 3.11, 3.12: the frame that called this activation, from the next _PyCFrame outwards.  That is
 * valid before this activation can be found, unlike the activation's own data about frames.
 */
static inline int python_cframe_caller(struct mem *mem, const struct python_walk *walk,
				       u64 *out_frame)
{
	const struct python_offsets *offsets = &walk->layout->offsets;
	u64 outer;

	if (offsets->cframe_previous == PYTHON_NO_FIELD ||
	    python_read(mem, &outer, walk->high - walk->distance, offsets->cframe_previous) < 0)
		return -1;
	return python_read(mem, out_frame, outer, offsets->cframe_frame);
}

/*
 * After an activation's last frame: whether no frame called it.  A generator that is not
 * executing has no previous frame either, so if the frames may be left over from another
 * activation, that alone is not proof.
 */
static inline u8 python_has_ended(struct mem *mem, const struct python_walk *walk)
{
	u64 caller;

	if (walk->outer != 0 && walk->outer != walk->base_frame)
		return 0;
	return walk->layout->chain == PYTHON_CHAIN_SHIM ||
	       (python_cframe_caller(mem, walk, &caller) == 0 && caller == 0);
}

/* python_next() has reached the shim of some activation. */
static inline enum python_step python_end_at_shim(struct mem *mem, struct python_walk *walk,
						  u64 previous)
{
	if (!python_is_own(walk, walk->frame))
		return python_frames_none(walk);
	if (walk->layout->chain == PYTHON_CHAIN_SHIM)
		walk->distance = walk->high - walk->frame;
	walk->has_begun = 1;
	walk->has_outer = 1;
	walk->outer = previous;
	walk->has_ended = python_has_ended(mem, walk);
	return PYTHON_END;
}

/* The start of the frame's bytecode, of which a free-threaded build has copies for threads. */
static inline int python_bytecode(struct mem *mem, const struct python_walk *walk, u64 code,
				  u64 *out_begin)
{
	const struct python_offsets *offsets = &walk->layout->offsets;
	u64 copies, count;
	s32 index;

	*out_begin = code + offsets->code_instructions;
	if (offsets->code_copies == PYTHON_NO_FIELD ||
	    offsets->frame_bytecode_index == PYTHON_NO_FIELD)
		return 0;
	if (python_read_int(mem, &index, walk->frame, offsets->frame_bytecode_index) < 0 ||
	    python_read(mem, &copies, code, offsets->code_copies) < 0)
		return -1;
	/* _PyCodeArray { Py_ssize_t size; char *entries[]; }; the first is the code's own. */
	if (copies == 0 || index <= 0)
		return 0;
	if (mem_read(mem, &count, sizeof count, copies) < 0 || (u64)index >= count)
		return -1;
	return mem_read(mem, out_begin, sizeof *out_begin,
			copies + sizeof count + (u64)index * sizeof(u64));
}

/* The current instruction's index, in code units; negative before the first. */
static inline int python_frame_index(struct mem *mem, const struct python_walk *walk, u64 code,
				     s64 *out_index)
{
	u64 begin, position;

	if (python_read(mem, &position, walk->frame, walk->layout->offsets.frame_position) <
		    0 ||
	    python_bytecode(mem, walk, code, &begin) < 0)
		return -1;
	*out_index = (s64)(position - begin) >> 1;
	return 0;
}

/* _PyFrame_IsIncomplete(): locals are not all set up yet, and it has called nothing. */
static inline int python_is_incomplete(struct mem *mem, const struct python_walk *walk,
				       u64 code, u8 owner, s64 index)
{
	s32 first;

	if (owner == PYTHON_OWNER_GENERATOR)
		return 0;
	if (python_read_int(mem, &first, code, walk->layout->offsets.code_first_traceable) < 0)
		return -1;
	return index < first;
}

static inline enum python_step python_frame_read(struct mem *mem,
						 const struct python_walk *walk, u8 owner,
						 struct python_frame *out_frame)
{
	s64 index;
	int is_incomplete;

	out_frame->address = walk->frame;
	out_frame->code = python_code_of(mem, walk->layout, walk->frame);
	if (out_frame->code == 0 || python_frame_index(mem, walk, out_frame->code, &index) < 0)
		return PYTHON_BROKEN;
	is_incomplete = python_is_incomplete(mem, walk, out_frame->code, owner, index);
	if (is_incomplete != 0)
		return is_incomplete < 0 ? PYTHON_BROKEN : PYTHON_SKIP;
	out_frame->instruction =
		index < 0 || index >= CODE_NO_INSTRUCTION ? CODE_NO_INSTRUCTION : (u32)index;
	return PYTHON_FRAME;
}

/*
 * 3.11: notes whether this frame is the activation's last.  A generator may still have is_entry
 * from when it was resumed: throw() passes an exception to the innermost of several generators
 * that wait for each other, and links the frames of the others to the activation in which it was
 * called (Objects/genobject.c, _gen_throw()).
 */
static inline int python_look_for_entry(struct mem *mem, struct python_walk *walk, u8 owner,
					u64 previous)
{
	u64 caller;
	u8 is_entry;

	if (walk->layout->chain != PYTHON_CHAIN_ENTRY_FLAG)
		return 0;
	if (python_read_byte(mem, &is_entry, walk->frame,
			     walk->layout->offsets.frame_is_entry) < 0)
		return -1;
	if (is_entry == 0)
		return 0;
	if (owner == PYTHON_OWNER_GENERATOR && previous != 0 &&
	    python_cframe_caller(mem, walk, &caller) == 0 && caller != previous)
		return 0;
	walk->is_at_end = 1;
	walk->has_outer = 1;
	walk->outer = previous;
	walk->has_ended = python_has_ended(mem, walk);
	return 0;
}

/* The next frame of the activation. */
static inline enum python_step python_next(struct mem *mem, struct python_walk *walk,
					   struct python_frame *out_frame)
{
	const struct python_offsets *offsets = &walk->layout->offsets;
	enum python_step step;
	u64 previous;
	u8 owner;

	if (walk->is_at_end)
		return PYTHON_END;
	if (walk->frame == 0 || walk->frame == walk->base_frame)
		return python_frames_none(walk);
	if (python_read_byte(mem, &owner, walk->frame, offsets->frame_owner) < 0 ||
	    python_read(mem, &previous, walk->frame, offsets->frame_previous) < 0)
		return PYTHON_BROKEN;
	if (owner >= PYTHON_OWNER_INTERPRETER)
		return python_end_at_shim(mem, walk, previous);
	if (python_look_for_entry(mem, walk, owner, previous) < 0)
		return PYTHON_BROKEN;
	step = python_frame_read(mem, walk, owner, out_frame);
	walk->frame = previous;
	return step;
}

/*
 * Leaves an activation whose frames were not found.  0: frames further out can still be found;
 * negative: they cannot.
 */
static inline int python_pass(struct mem *mem, struct python_walk *walk)
{
	const u64 shim = walk->high - walk->distance;
	u8 owner;

	walk->has_outer = 0;
	if (walk->layout->chain != PYTHON_CHAIN_SHIM)
		return walk->has_begun ? 0 : -1;
	if (walk->distance == 0 || !python_is_own(walk, shim) ||
	    python_read_byte(mem, &owner, shim, walk->layout->offsets.frame_owner) < 0 ||
	    owner < PYTHON_OWNER_INTERPRETER ||
	    python_read(mem, &walk->outer, shim, walk->layout->offsets.frame_previous) < 0)
		return -1;
	walk->has_begun = 1;
	walk->has_outer = 1;
	return 0;
}

/*
 * Begins with the frames outside of all activations that were entered, or with the thread's
 * innermost frame if none was: for a native walk that ended before the outer activations.  They
 * are the callers of what was walked, if no activation further out is incomplete.  Negative: they
 * cannot be found.
 */
static inline int python_outer_begin(struct mem *mem, struct python_walk *walk)
{
	if (walk->has_outer) {
		walk->frame = walk->outer;
		return 0;
	}
	if (walk->has_begun || walk->was_unbegun)
		return -1;
	if (walk->layout->chain == PYTHON_CHAIN_SHIM || walk->first == 0)
		return 0;
	return python_read(mem, &walk->frame, walk->first, walk->layout->offsets.cframe_frame);
}

/* The next of those frames.  PYTHON_END: that was the outermost. */
static inline enum python_step python_outer_next(struct mem *mem, struct python_walk *walk,
						 struct python_frame *out_frame)
{
	const struct python_offsets *offsets = &walk->layout->offsets;
	enum python_step step = PYTHON_SKIP;
	u64 previous;
	u8 owner;

	if (walk->frame == 0 || walk->frame == walk->base_frame)
		return PYTHON_END;
	if (python_read_byte(mem, &owner, walk->frame, offsets->frame_owner) < 0 ||
	    python_read(mem, &previous, walk->frame, offsets->frame_previous) < 0)
		return PYTHON_BROKEN;
	if (owner < PYTHON_OWNER_INTERPRETER)
		step = python_frame_read(mem, walk, owner, out_frame);
	out_frame->owner = owner;
	walk->frame = previous;
	return step;
}

/*
 * Whether the caller of the only activation that was entered, in which the thread was
 * interrupted, is confirmed by the next _PyCFrame outwards.  (3.11's `previous` is out of date
 * during some instructions of an inlined call.)
 */
static inline int python_outer_is_certain(struct mem *mem, const struct python_walk *walk)
{
	u64 caller;

	return walk->layout->chain == PYTHON_CHAIN_SHIM ||
	       (python_cframe_caller(mem, walk, &caller) == 0 && caller == walk->outer);
}

/* After the outermost activation: whether no frames are left. */
static inline int python_is_over(const struct python_walk *walk)
{
	return !walk->has_outer || walk->outer == 0 || walk->outer == walk->base_frame;
}
