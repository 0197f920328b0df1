/*
 * names - makes the words of Python's frames, and sends the recorder the names they stand for.
 *
 * A name that is new in this epoch is sent at once; walk->is_lost is set if there is no room for
 * it, since a stack without its names is not sent either.
 */
#pragma once
#include "abi/types.h"

struct mem;
struct python_frame;
struct walk;

/* The key of a code object, whose name is sent if it is new; 0 if it cannot be read. */
u64 python_name_code(struct walk *walk, struct mem *mem, u64 code);
/* The word of a frame; 0: its code cannot be read. */
u64 python_name_frame(struct walk *walk, struct mem *mem, const struct python_frame *frame);
/*
 * The word of the C function that the frame has called and to which the native frames before word
 * number `loop` belong (that of the frame's activation); 0 if there is none, or it is not known.
 */
u64 python_name_callee(struct walk *walk, struct mem *mem, const struct python_frame *frame,
		       u32 loop);
/* Sends the thread's name at the end of a complete walk, by its outermost frame, the first one. */
void python_name_thread(struct walk *walk, struct mem *mem);
