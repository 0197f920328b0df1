/*
 * region_python - which Python frame a region is begun in.
 *
 * Not the one that asks for it, which is a method of share/python/fathom.py's; nor other
 * __enter__()s on the way there, and the generator that contextlib makes one of: they begin it
 * for the function that has the `with` statement.
 */
#pragma once
#include "abi/types.h"
#include "agent/core/regions.h"

/*
 * The place for a region that the calling thread asks for, out of a C function, and which
 * functions ask.  state: its PyThreadState, which has the GIL: the interpreter stands still,
 * and all of its own can be read.
 */
void region_python_place(u64 state, struct region_place *out_place,
			 struct region_asking *out_asking);
/* Stores the frames that are being executed, the innermost first, as far as they are known. */
void region_python_frames(u64 state, u64 out_frames[2]);
/*
 * Whether a frame, of this code (0: of any), is the one that is being executed, or has called it in
 * turn.
 */
bool region_python_has_frame(u64 state, u64 frame, u64 code);
