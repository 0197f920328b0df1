/*
 * python_acquired - the locks that a function has taken by acquire(), and not yet released.
 *
 * An acquired lock leaves no trace in the frame, but the code has both calls. A function holds
 * the lock if, of the calls for it, the nearest one before the frame's instruction is acquire(),
 * and the nearest one after it release():
 *
 *     lock.acquire()              self.lock.acquire()
 *     work()                      try:
 *     lock.release()                  work()
 *                                 finally:
 *                                     self.lock.release()
 *
 * If acquire() has arguments, or its result is used, it may have failed: then only a `try` block
 * counts whose handler releases the lock first of all, under no condition, and that does not have
 * acquire() inside of it, which may still wait.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct python_frame;
struct remote;

struct python_acquired {
	uint64_t lock;        /* also of a Condition whose acquire() was called */
	uint32_t instruction; /* of acquire(), as the line table has it */
};

/*
 * Stores them, `most` at most, and returns how many. steps_left: what the search may cost in all
 * frames of a stack, as in python_load.h.
 */
size_t python_acquired_in(struct remote *remote, const struct python_frame *frame,
			  uint32_t *steps_left, size_t most,
			  struct python_acquired *out_acquired);
