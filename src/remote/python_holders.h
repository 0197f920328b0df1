/*
 * python_holders - which thread holds a threading.Lock now, in a process that is sampled
 * repeatedly.
 *
 * CPython records no owner of a Lock: the holder is the thread inside a `with` of it
 * (python_with.h). What a thread holds is cached while it stays blocked, so that a lookup costs
 * only as much as there are threads that ran since the last one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"

struct remote;

struct python_holders {
	struct table by_tid; /* to the number of one of rows + 1 */
	struct python_held *rows;
	size_t count, capacity;
};

/* What the caller knows about threads, given by their numbers in their own PID namespace. */
struct python_rests {
	/*
	 * A number that differs for each blocking period of the thread; 0: it runs, or unknown.
	 */
	uint64_t (*of)(void *context, pid_t inner_tid);
	/* Whether it waits in that futex now. */
	bool (*is_in_futex)(void *context, pid_t inner_tid, uint64_t futex);
	void *context;
};

/* A thread was seen waiting for a lock. */
struct python_lock_wait {
	pid_t inner_tid;
	uint64_t rest; /* as python_rests has it */
	uint64_t lock, futex;
	uint64_t frame; /* Python's innermost frame, and its instruction */
	uint32_t instruction;
};

void python_holders_note(struct python_holders *holders, const struct python_lock_wait *wait);
/*
 * The thread that holds the lock, as its own PID namespace numbers it: it is in a `with` of the
 * lock, or waited for it, was woken, and has not returned from acquire(); 0: none. Call
 * remote_python_list() before. -EAGAIN: until_ns (monotonic) passed before all threads were
 * looked at.
 */
pid_t python_holders_find(struct python_holders *holders, struct remote *remote, uint64_t lock,
			  const struct python_rests *rests, uint64_t until_ns);
void python_holders_done(struct python_holders *holders);
