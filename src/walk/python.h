/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python - walks the frames of a CPython thread, and assigns them to native frames.
 *
 * The interpreter is a C function that loops over bytecodes (_PyEval_EvalFrameDefault).  A call
 * of it, with its frame on the native stack, is an *activation*.  An activation executes one
 * Python function or, from 3.11 on, this function and all Python functions that it calls
 * directly.  Python frames are separate objects, linked from the innermost outwards.  A mixed
 * stack is made by inserting, after each activation's native frame, the Python frames that it
 * executes.  How these are found depends on the version (abi/python_layout.h, enum python_chain):
 *
 *   2.7 to 3.10   one per activation.  Nothing in a Python frame shows its activation, so
 *                 both are counted: python_objects.h.
 *   from 3.11 on  an activation has an object of its own on the native stack, between its stack
 *                 pointer and its CFA, which identifies its frames: python_frames.h.
 *
 * An activation that has just begun or is about to end has no Python frame, or an incomplete one.
 * The walk may happen at any instruction, so that is no error: PYTHON_NONE.
 *
 * This is not a loop.  The including code walks native frames; if a pc is in the interpreter's loop
 * (code_ranges_have()), it takes a step to get that frame's CFA, and then
 *
 *	step = python_enter(mem, &walk, sp, cfa);
 *	while (step == PYTHON_FRAME || step == PYTHON_SKIP)
 *		step = python_next(mem, &walk, &frame);    (a frame if PYTHON_FRAME)
 *
 * within a bound of its own.  If this ends with PYTHON_END the frames are the activation's; else
 * they must be discarded.  Names, and keys that identify code: python_code.h.
 *
 * No libc, no allocation, every loop has a constant bound; for kernels it compiles with
 * `clang -target bpf` too.  Sources: CPython's Python/ceval.c, Include/internal/pycore_frame.h
 * (3.14: pycore_interpframe.h) of each version.
 */
#pragma once
#include "python_frames.h"
#include "python_objects.h"

/*
 * Begins with the frames as they are linked, whichever version's: those outside of all activations
 * that were entered (python_outer_begin()), or all.  Negative: they cannot be found.
 */
static inline int python_linked_begin(struct mem *mem, struct python_walk *walk)
{
	return walk->layout->chain == PYTHON_CHAIN_OBJECTS ? 0 : python_outer_begin(mem, walk);
}

/* The next of those frames.  PYTHON_END: that was the outermost. */
static inline enum python_step python_linked_next(struct mem *mem, struct python_walk *walk,
						  struct python_frame *out_frame)
{
	return walk->layout->chain == PYTHON_CHAIN_OBJECTS
		       ? python_object_next(mem, walk, out_frame)
		       : python_outer_next(mem, walk, out_frame);
}

/*
 * Whether the memory at state looks like the state of a thread whose pthread_self() is `thread`,
 * of an existing interpreter.
 */
static inline int python_is_state(struct mem *mem, const struct python_layout *layout,
				  u64 state, u64 thread)
{
	u64 owner = 0, interpreter = 0;

	return state != 0 &&
	       python_read(mem, &owner, state, layout->offsets.state_thread_id) >= 0 &&
	       owner == thread &&
	       python_read(mem, &interpreter, state, layout->offsets.state_interp) >= 0 &&
	       interpreter != 0;
}

/*
 * Begins with a thread's state: 0, or negative if it cannot be read.  distance: walk->distance of
 * an earlier walk of the same process, else 0.
 */
static inline int python_begin(struct mem *mem, const struct python_layout *layout, u64 state,
			       u64 distance, struct python_walk *walk)
{
	const int has_cframe = layout->chain == PYTHON_CHAIN_ENTRY_FLAG ||
			       layout->chain == PYTHON_CHAIN_CFRAME_SHIM;
	const u16 field =
		has_cframe ? layout->offsets.state_cframe : layout->offsets.state_frame;

	*walk = (struct python_walk){ .layout = layout, .state = state, .distance = distance };
	if (python_read(mem, &walk->first, state, field) < 0)
		return -1;
	walk->frame = walk->first;
	if (layout->offsets.state_base_frame == PYTHON_NO_FIELD)
		return 0;
	return python_read(mem, &walk->base_frame, state, layout->offsets.state_base_frame);
}
