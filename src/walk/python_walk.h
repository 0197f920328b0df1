/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_walk - what a walk along Python frames carries from one to the next.
 */
#pragma once
#include "code_key.h"
#include "python_memory.h"

struct python_walk {
	const struct python_layout *layout;
	u64 state;      /* the thread's */
	u64 first;      /* its innermost frame, or _PyCFrame where there are those */
	u64 frame;      /* to be looked at next */
	u64 base_frame; /* 3.15: ends the chain; else 0 */
	u64 outer;      /* the caller of the activation that came before, if has_outer */
	u64 low, high;  /* stack pointer and CFA of this activation */
	/*
	 * From an activation's CFA down to what it has of its own on the stack: the same for
	 * all, since it is a local variable of theirs.  0: not known yet.
	 */
	u64 distance;
	u8 has_outer;
	u8 has_begun;   /* an activation that has frames was met */
	u8 was_unbegun; /* and one that has none, before */
	u8 is_at_end;   /* the frame before was this activation's last */
	u8 has_ended;   /* and nothing called it: further out is what is not this stack's */
};

/* One Python frame. */
struct python_frame {
	u64 address;
	u64 code;        /* its code object */
	u32 instruction; /* being executed, as the code's table of lines counts */
};

enum python_step {
	PYTHON_FRAME,  /* here is one */
	PYTHON_SKIP,   /* none, but there may be more: go on */
	PYTHON_END,    /* this activation has no more */
	PYTHON_NONE,   /* it has none at all: it has just begun, or is about to end */
	PYTHON_STRAY,  /* the frames do not end in this activation */
	PYTHON_BROKEN, /* one could not be read, or is none */
};

/* The code object that a frame or a reference names; 0 if it is none. */
static inline u64 python_code_of(struct mem *mem, const struct python_layout *layout, u64 frame)
{
	u64 code;

	if (python_read(mem, &code, frame, layout->offsets.frame_code) < 0)
		return 0;
	code &= ~CODE_REFERENCE_MARKS;
	return python_is_of_type(mem, layout, code, layout->code_type) == 1 ? code : 0;
}
