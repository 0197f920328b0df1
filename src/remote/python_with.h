/*
 * python_with - the `with` statements that a thread is inside of, on locks of CPython's.
 *
 * The value stack of a frame in the block of `with lock:` has the lock's bound __exit__ (from
 * 3.14 on __exit__ and the lock).  Where a stack ends is not known of a frame that runs or calls;
 * but what an exception at the frame's instruction would leave of it is: the level of its innermost
 * block (f_blockstack, up to 3.10) or the depth that co_exceptiontable has for it.
 *
 * CPython 3.6 to 3.14.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct remote;
struct remote_stack;
struct stack_frame;

struct python_with {
	uint64_t lock;                   /* the object: of a Lock, or anything else in C */
	const struct stack_frame *frame; /* which is inside the block */
	uint32_t line;                   /* of `with`; 0: not known */
};

/* From the innermost on: how many there are in out_withs, of `most` at most. */
size_t python_withs(struct remote *remote, const struct remote_stack *stack, size_t most,
		    struct python_with *out_withs);
