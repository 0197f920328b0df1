/*
 * python_with - the `with` statements that a thread is inside of, on locks of CPython's: Lock and
 * RLock themselves, and those of a Condition, as queues have them.
 *
 * The value stack of a frame in the block of `with lock:` has the lock's bound __exit__ (from
 * 3.14 on __exit__ and the lock).  Where a stack ends is not known of a frame that runs or calls;
 * but what an exception at the frame's instruction would leave of it is: the level of its innermost
 * block (f_blockstack, up to 3.10) or the depth that co_exceptiontable has for it.
 *
 * A `with` around Condition.wait() does not count: the lock is given away meanwhile.
 *
 * CPython 3.6 to 3.15.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_frame;
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
/* The innermost frame of the thread of this PyThreadState; false: it has none. */
bool python_innermost(struct remote *remote, uint64_t state, struct python_frame *out_frame);
/*
 * The locks of the `with` statements that the thread of this PyThreadState is in at this moment,
 * likewise.  If it runs meanwhile they may be of several moments.
 */
size_t python_locks_held(struct remote *remote, uint64_t state, size_t most,
			 uint64_t *out_locks);
