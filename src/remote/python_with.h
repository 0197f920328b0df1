/*
 * python_with - the locks that a thread has taken by `with` or acquire(): Lock, RLock, and the
 * lock of a Condition, as queues have.
 *
 * In the block of `with lock:` the frame's value stack holds the lock's bound __exit__ (from
 * 3.14 on __exit__ and the lock). The depth of the value stack is unknown while a frame runs or
 * calls; but the depth that an exception at the frame's instruction would cut it to is known:
 * the level of its innermost block (f_blockstack, up to 3.10), or the depth in
 * co_exceptiontable.
 *
 * What acquire() has taken is found by the code: python_acquired.h.
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
	const struct stack_frame *frame; /* the frame that took it */
	uint32_t line;    /* of the `with` statement, or of acquire(); 0: unknown */
	bool is_acquired; /* by acquire() */
};

/* Stores them from the innermost on, `most` at most, and returns how many. */
size_t python_withs(struct remote *remote, const struct remote_stack *stack, size_t most,
		    struct python_with *out_withs);
/* The innermost frame of the thread with this PyThreadState; false: it has none. */
bool python_innermost(struct remote *remote, uint64_t state, struct python_frame *out_frame);
/*
 * The locks that the thread with this PyThreadState has now, stored likewise. If the thread runs
 * meanwhile, they may be of different moments.
 */
size_t python_locks_held(struct remote *remote, uint64_t state, size_t most,
			 uint64_t *out_locks);
