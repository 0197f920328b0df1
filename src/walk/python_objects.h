/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_objects - CPython 2.7 to 3.10: one PyFrameObject per activation.
 *
 * PyThreadState.frame is set shortly after an activation begins, and reset to f_back shortly
 * before it ends.  So there are as many frames as activations, which belong together one by one;
 * or one activation more, and then the innermost has no frame.  Any other number is an error.
 * Counting needs the whole native stack.
 */
#pragma once
#include "python_walk.h"

/*
 * Skips one frame.  0, or negative if it cannot be read.  After the outermost, walk->frame is 0.
 */
static inline int python_object_pass(struct mem *mem, struct python_walk *walk)
{
	return python_read(mem, &walk->frame, walk->frame,
			   walk->layout->offsets.frame_previous);
}

/* f_lasti is -1 before the first instruction. */
static inline int python_object_position(struct mem *mem, const struct python_walk *walk,
					 u32 *out_instruction)
{
	s32 position;

	if (python_read_int(mem, &position, walk->frame, walk->layout->offsets.frame_position) <
	    0)
		return -1;
	*out_instruction = position < 0 ? 0 : (u32)position;
	return 0;
}

/* The next frame outwards. */
static inline enum python_step python_object_next(struct mem *mem, struct python_walk *walk,
						  struct python_frame *out_frame)
{
	if (walk->frame == 0)
		return PYTHON_END;
	out_frame->address = walk->frame;
	out_frame->code = python_code_of(mem, walk->layout, walk->frame);
	if (out_frame->code == 0 ||
	    python_object_position(mem, walk, &out_frame->instruction) < 0 ||
	    python_object_pass(mem, walk) < 0)
		return PYTHON_BROKEN;
	return PYTHON_FRAME;
}
