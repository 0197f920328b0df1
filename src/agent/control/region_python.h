/*
 * region_python - finds the Python frame in which a region is begun.
 *
 * It is not the frame that asks for the region, a method of share/python/fathom.py; nor that of
 * another __enter__() on the way, or of the generator that contextlib makes into one: they begin it
 * for the function that has the `with` statement.
 */
#pragma once
#include "abi/types.h"
#include "agent/core/regions.h"

/*
 * Finds the place for a region that the calling thread asks for, out of a C function, and the
 * functions from which it asks.  state: its PyThreadState, which holds the GIL: so the
 * interpreter's state does not change, and can be read directly.
 */
void region_python_place(u64 state, struct region_place *out_place,
			 struct region_asking *out_asking);
/* Stores the two innermost frames, the inner one first, as far as they are known. */
void region_python_frames(u64 state, u64 out_frames[2]);
/* Whether a frame, of this code (0: of any), is on the thread's stack. */
bool region_python_has_frame(u64 state, u64 frame, u64 code);
