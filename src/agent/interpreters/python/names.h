/*
 * names - words for Python's frames, and the reports of what they stand for.
 *
 * What is new in this epoch is sent at once; walk->is_lost if there is no room for it, since a
 * stack whose names are not known is not sent either.
 */
#pragma once
#include "abi/types.h"

struct mem;
struct python_frame;
struct walk;

/* The key of a code object, of which the recorder knows then; 0 if it cannot be read. */
u64 python_name_code(struct walk *walk, struct mem *mem, u64 code);
/* The word of a frame; 0: its code cannot be read. */
u64 python_name_frame(struct walk *walk, struct mem *mem, const struct python_frame *frame);
/*
 * The word of the C function that the frame has called, of which the native frames before word
 * number `loop` are (the frame's own activation); 0 if there is none, or none is known.
 */
u64 python_name_callee(struct walk *walk, struct mem *mem, const struct python_frame *frame,
		       u32 loop);
/* Reports the thread's name, at the end of a walk that is whole: its outermost frame is its first. */
void python_name_thread(struct walk *walk, struct mem *mem);
