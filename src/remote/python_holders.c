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

/* Of one thread: of more the outer ones are not seen. */
#define LOCKS_MAX 8
/* Threads come and go: with so many more rows than there are threads all begin anew. */
#define ROWS_SPARE 256

struct python_held {
	uint64_t rest; /* in which that was read; 0: it is not to be used */
	size_t count;
	uint64_t locks[LOCKS_MAX];
	struct python_lock_wait wait; /* the last one that was met */
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

/* Threads that have rested since they were read last are sure: they are asked first. */
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
 * A thread that has a lock in lock.acquire() waits for the GIL, or a CPU, before it returns: then it
 * is in no `with` of it.  The same of one that was woken and is about to have it.
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

/* Those that were switched since first: of the others each has to be asked for its system call. */
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
