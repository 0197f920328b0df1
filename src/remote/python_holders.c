#include "remote/python_holders.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_with.h"
#include "walk/python_walk.h"

/* Locks per thread; of more, the outer ones are ignored. */
#define LOCKS_MAX 8
/* Threads come and go: when there are so many more rows than threads, all rows are dropped. */
#define ROWS_SPARE 256

struct python_held {
	uint64_t rest; /* the blocking period in which this was read; 0: not valid */
	size_t count;
	uint64_t locks[LOCKS_MAX];
	struct python_lock_wait wait; /* the last wait that was noted */
};

void python_holders_done(struct python_holders *holders)
{
	table_done(&holders->by_tid);
	free(holders->rows);
	*holders = (struct python_holders){ 0 };
}

static struct python_held *held_of(struct python_holders *holders, pid_t tid)
{
	uint64_t *number = table_at(&holders->by_tid, 0, (uint32_t)tid, NULL);

	if (*number == 0) {
		holders->rows = array_grow(holders->rows, holders->count, &holders->capacity,
					   sizeof *holders->rows);
		holders->rows[holders->count] = (struct python_held){ 0 };
		*number = ++holders->count;
	}
	return &holders->rows[*number - 1];
}

void python_holders_note(struct python_holders *holders, const struct python_lock_wait *wait)
{
	held_of(holders, wait->inner_tid)->wait = *wait;
}

static bool has(const struct python_held *held, uint64_t lock)
{
	for (size_t i = 0; i < held->count; i++) {
		if (held->locks[i] == lock)
			return true;
	}
	return false;
}

/* Threads still blocked since they were read last are certain, so they come first. */
static pid_t find_resting(struct python_holders *holders, struct remote *remote, uint64_t lock,
			  const struct python_rests *rests)
{
	uint64_t state;
	pid_t tid;

	for (size_t i = 0; remote_python_thread(remote, i, &tid, &state); i++) {
		const struct python_held *held = held_of(holders, tid);

		if (held->rest != 0 && has(held, lock) &&
		    held->rest == rests->of(rests->context, tid))
			return tid;
	}
	return 0;
}

/*
 * Whether the thread has just got the lock: it has left the futex, but not yet lock.acquire(),
 * where it waits for the GIL or a CPU. It is in no `with` of the lock then. A thread that was
 * woken and is about to get the lock looks the same.
 */
static bool has_just_got(struct remote *remote, const struct python_held *held, uint64_t lock,
			 uint64_t state, const struct python_rests *rests)
{
	const struct python_lock_wait *wait = &held->wait;
	struct python_frame frame;

	return wait->lock == lock && python_innermost(remote, state, &frame) &&
	       frame.address == wait->frame && frame.instruction == wait->instruction &&
	       !rests->is_in_futex(rests->context, wait->inner_tid, wait->futex);
}

/*
 * Called first for threads that were switched since: has_just_got() costs a system call for
 * each.
 */
static pid_t find_passed_on(struct python_holders *holders, struct remote *remote,
			    uint64_t lock, const struct python_rests *rests, bool has_rested,
			    uint64_t until_ns)
{
	uint64_t state;
	pid_t tid;

	for (size_t i = 0; remote_python_thread(remote, i, &tid, &state); i++) {
		const struct python_held *held = held_of(holders, tid);

		if ((held->wait.rest == rests->of(rests->context, tid)) != has_rested)
			continue;
		if (has_just_got(remote, held, lock, state, rests))
			return tid;
		if (monotonic_ns() >= until_ns)
			return -EAGAIN;
	}
	return 0;
}

pid_t python_holders_find(struct python_holders *holders, struct remote *remote, uint64_t lock,
			  const struct python_rests *rests, uint64_t until_ns)
{
	uint64_t state;
	pid_t tid;

	if (holders->count > remote_python_thread_count(remote) + ROWS_SPARE)
		python_holders_done(holders);
	tid = find_resting(holders, remote, lock, rests);
	if (tid != 0)
		return tid;
	for (size_t i = 0; remote_python_thread(remote, i, &tid, &state); i++) {
		struct python_held *held = held_of(holders, tid);
		const uint64_t rest = rests->of(rests->context, tid);

		if (rest != 0 && held->rest == rest)
			continue;
		if (monotonic_ns() >= until_ns)
			return -EAGAIN;
		held->count = python_locks_held(remote, state, LOCKS_MAX, held->locks);
		held->rest = rest;
		if (has(held, lock))
			return tid;
	}
	tid = find_passed_on(holders, remote, lock, rests, false, until_ns);
	return tid != 0 ? tid : find_passed_on(holders, remote, lock, rests, true, until_ns);
}
