/*
 * python_with - the `with` statements on locks that a thread is inside of: Lock, RLock, and the
 * lock of a Condition, as queues have.
 *
 * In the block of `with lock:` the frame's value stack holds the lock's bound __exit__ (from
 * 3.14 on __exit__ and the lock). The depth of the value stack is unknown while a frame runs or
 * calls; but the depth that an exception at the frame's instruction would cut it to is known:
 * the level of its innermost block (f_blockstack, up to 3.10), or the depth in
 * co_exceptiontable.
 *
 * A `with` around Condition.wait() does not count: wait() releases the lock until it returns.
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
	uint64_t lock; /* the lock object: a Lock, or any other type implemented in C */
	const struct stack_frame *frame; /* the frame inside the block */
	uint32_t line;                   /* of the `with` statement; 0: unknown */
};

/* Stores them from the innermost on, `most` at most, and returns how many. */
size_t python_withs(struct remote *remote, const struct remote_stack *stack, size_t most,
		    struct python_with *out_withs);
/* The innermost frame of the thread with this PyThreadState; false: it has none. */
bool python_innermost(struct remote *remote, uint64_t state, struct python_frame *out_frame);
/*
 * The locks of the `with` statements that the thread with this PyThreadState is in now, stored
 * likewise. If the thread runs meanwhile, they may be of different moments.
 */
size_t python_locks_held(struct remote *remote, uint64_t state, size_t most,
			 uint64_t *out_locks);
