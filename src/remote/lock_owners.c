#include "remote/lock_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/process.h"
#include "remote/python_with.h"
#include "remote/thread.h"

/* Locks that one thread has taken. */
#define HELD_MOST 64

struct threads {
	struct remote_thread *rows;
	size_t count;
};

/* A lock that a thread has taken, by `with` or acquire(). */
struct held {
	size_t thread;
	struct python_with taken;
};

struct helds {
	struct held *rows;
	size_t count, capacity;
};

/* Finds owners that the waited-for lock itself records by thread number. */
static void find_by_number(const struct threads *threads)
{
	for (size_t i = 0; i < threads->count; i++) {
		struct remote_thread *thread = &threads->rows[i];

		for (size_t j = 0; thread->wait.inner_owner > 0 && j < threads->count; j++) {
			if (threads->rows[j].inner_tid == thread->wait.inner_owner)
				thread->wait_owner = threads->rows[j].tid;
		}
	}
}

static void list_held(struct remote *remote, const struct threads *threads, struct helds *helds)
{
	struct python_with taken[HELD_MOST];

	memory_forget(&remote->mem);
	for (size_t i = 0; i < threads->count; i++) {
		const struct remote_stack *stack = &threads->rows[i].stack;
		const size_t count = python_withs(remote, stack, HELD_MOST, taken);

		for (size_t j = 0; j < count; j++) {
			helds->rows = array_grow(helds->rows, helds->count, &helds->capacity,
						 sizeof *helds->rows);
			helds->rows[helds->count++] = (struct held){ i, taken[j] };
		}
	}
}

/*
 * Where the lock that the thread waits for was taken: an RLock by its owner, the first time; a
 * Lock in the only place. If several threads seem to have taken a Lock, one of them holds it and
 * it is unknown which: NULL.
 */
static const struct held *find_held(const struct threads *threads, const struct helds *helds,
				    const struct remote_thread *waiter)
{
	const struct held *found = NULL;

	for (size_t i = 0; i < helds->count; i++) {
		const struct held *held = &helds->rows[i];

		if (held->taken.lock != waiter->wait.object)
			continue;
		if (waiter->wait.on == WAIT_ON_PYTHON_LOCK && found)
			return NULL;
		if (waiter->wait.on == WAIT_ON_PYTHON_LOCK ||
		    threads->rows[held->thread].tid == waiter->wait_owner)
			found = held;
	}
	return found;
}

static bool waits_for_python(const struct remote_thread *thread)
{
	return thread->wait.on == WAIT_ON_PYTHON_LOCK ||
	       thread->wait.on == WAIT_ON_PYTHON_RLOCK;
}

static void find_by_place(struct remote *remote, const struct threads *threads)
{
	struct helds helds = { 0 };

	list_held(remote, threads, &helds);
	for (size_t i = 0; i < threads->count; i++) {
		struct remote_thread *thread = &threads->rows[i];
		const struct held *held =
			waits_for_python(thread) ? find_held(threads, &helds, thread) : NULL;

		if (!held)
			continue;
		thread->wait_owner = threads->rows[held->thread].tid;
		thread->held_at =
			(struct wait_place){ held->taken.frame->name, held->taken.frame->file,
					     held->taken.line, held->taken.is_acquired };
	}
	free(helds.rows);
}

void lock_owners_find(struct remote *remote, struct remote_thread *rows, size_t count)
{
	const struct threads list = { rows, count }, *threads = &list;
	bool has_locks = false;

	find_by_number(threads);
	for (size_t i = 0; i < threads->count; i++)
		has_locks |= waits_for_python(&threads->rows[i]);
	if (has_locks)
		find_by_place(remote, threads);
}
