/*
 * python_holders - which thread holds a threading.Lock now, of a process that is asked again and
 * again.
 *
 * CPython keeps no owner of a Lock: what is looked for is the thread that is in a `with` of it
 * (python_with.h).  What a thread holds is kept for as long as it rests, so that a look costs as
 * much as there are threads that ran since the last one.
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

/* What the caller knows of threads, which their own PID namespace numbers so. */
struct python_rests {
	/* Another number in each rest of the thread; 0: it runs, or it is not known. */
	uint64_t (*of)(void *context, pid_t inner_tid);
	/* Whether it waits in that futex now. */
	bool (*is_in_futex)(void *context, pid_t inner_tid, uint64_t futex);
	void *context;
};

/* A thread was met waiting for a lock. */
struct python_lock_wait {
	pid_t inner_tid;
	uint64_t rest; /* as python_rests has it */
	uint64_t lock, futex;
	uint64_t frame; /* the innermost of Python's, and where that is */
	uint32_t instruction;
};

void python_holders_note(struct python_holders *holders, const struct python_lock_wait *wait);
/*
 * The thread that holds the lock, as its own PID namespace numbers it: which is in a `with` of it, or
 * waited for it, was woken, and has not returned from that call; 0: none does.
 * remote_python_list() has been called.  -EAGAIN: until_ns (monotonic) came before all threads had
 * been looked at.
 */
pid_t python_holders_find(struct python_holders *holders, struct remote *remote, uint64_t lock,
			  const struct python_rests *rests, uint64_t until_ns);
void python_holders_done(struct python_holders *holders);
