/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_walk - the state of a walk along Python frames.
 */
#pragma once
#include "code_key.h"
#include "python_memory.h"

struct python_walk {
	const struct python_layout *layout;
	u64 state; /* the thread's PyThreadState */
	u64 first; /* the thread's innermost frame, or _PyCFrame in versions that have it */
	u64 frame; /* the frame to be read next */
	u64 base_frame; /* 3.15: ends the chain; else 0 */
	u64 outer;      /* the caller of the last activation, if has_outer */
	u64 low, high;  /* stack pointer and CFA of this activation */
	/*
	 * The distance from an activation's CFA down to its _PyCFrame or shim: the same for all
	 * activations, as it is a local variable of the loop.  0: not known yet.
	 */
	u64 distance;
	u8 has_outer;
	u8 has_begun;   /* an activation with frames was entered */
	u8 was_unbegun; /* an activation without frames was entered before */
	u8 is_at_end;   /* the previous frame was this activation's last */
	u8 has_ended;   /* and no frame called it: frames further out are not this stack's */
};

/* One Python frame. */
struct python_frame {
	u64 address;
	u64 code;        /* its code object */
	u32 instruction; /* the one being executed, counted as in the line table */
	u8 owner;        /* enum python_owner: of a linked frame, from 3.11 on */
};

enum python_step {
	PYTHON_FRAME, /* here is a frame */
	PYTHON_SKIP,  /* no frame, but there may be more: go on */
	PYTHON_END,   /* this activation has no more frames */
	PYTHON_NONE,  /* this activation has no frames: it has just begun, or is about to end */
	PYTHON_STRAY, /* the frames do not end in this activation */
	PYTHON_BROKEN, /* a frame could not be read, or is invalid */
};

/* A frame's code object; 0 if it is none. */
static inline u64 python_code_of(struct mem *mem, const struct python_layout *layout, u64 frame)
{
	u64 code;

	if (python_read(mem, &code, frame, layout->offsets.frame_code) < 0)
		return 0;
	code &= ~CODE_REFERENCE_MARKS;
	return python_is_of_type(mem, layout, code, layout->code_type) == 1 ? code : 0;
}
