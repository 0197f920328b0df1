#include "remote/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/core_memory.h"
#include "remote/core_thread.h"
#include "remote/deadlock.h"
#include "remote/lock_owners.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/refusal.h"
#include "remote/ruby.h"

/* Of all threads together: bounds our memory, whatever the target's memory claims. */
#define MOST_FRAMES (1U << 20)
/* For all stacks together. */
#define WALKS_MOST_NS 10000000000ULL
/* Each thread's own part of that: enough for 10,000 native frames. */
#define RESERVED_NS 10000000ULL

/* Puts the process's first thread, whose id is the pid, first. */
static void put_first(pid_t pid, pid_t *tids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tids[i] != pid)
			continue;
		for (; i > 0; i--)
			tids[i] = tids[i - 1];
		tids[0] = pid;
		return;
	}
}

uint64_t snapshot_share_ns(uint64_t left_ns, size_t threads)
{
	const uint64_t even_ns = left_ns / threads;
	const uint64_t own_ns = even_ns < RESERVED_NS ? even_ns : RESERVED_NS;

	return own_ns + (left_ns - own_ns * threads) / 2;
}

/* Sets the deadline of the next thread's stack; `threads` are still to be read. */
static void begin_thread(struct remote *remote, uint64_t until_ns, size_t threads)
{
	const uint64_t now_ns = stack_clock_ns();
	const uint64_t left_ns = now_ns < until_ns ? until_ns - now_ns : 0;

	remote->walks_until_ns = now_ns + snapshot_share_ns(left_ns, threads);
}

static void list_states(struct remote *remote)
{
	if (remote->python)
		remote_python_list(remote);
	if (remote->ruby)
		remote_ruby_list(remote);
}

static void read_core(struct remote *remote, uint64_t until_ns, struct snapshot *out_snapshot)
{
	const struct core_file *file = &remote->core->file;
	struct snapshot snapshot = { .count = file->thread_count };
	size_t frames = 0;

	list_states(remote);
	snapshot.threads = xreallocarray(NULL, snapshot.count, sizeof *snapshot.threads);
	for (size_t i = 0; i < snapshot.count; i++) {
		begin_thread(remote, until_ns, snapshot.count - i);
		core_thread_read(remote, &file->threads[i], frames < MOST_FRAMES,
				 &snapshot.threads[i]);
		frames += snapshot.threads[i].stack.count;
	}
	lock_owners_find(remote, snapshot.threads, snapshot.count);
	*out_snapshot = snapshot;
}

int snapshot_read(struct remote *remote, struct snapshot *out_snapshot, struct error *err)
{
	const uint64_t until_ns = stack_clock_ns() + WALKS_MOST_NS;

	if (remote->core) {
		read_core(remote, until_ns, out_snapshot);
		return 0;
	}
	CLEANUP(freep) pid_t *tids = NULL;
	struct snapshot snapshot = { 0 };
	size_t count = 0, frames = 0;
	const int rc = task_list(remote->pid, &tids, &count);

	if (rc < 0)
		return refusal_explain("dump", remote->pid, rc, err);
	put_first(remote->pid, tids, count);
	list_states(remote);
	snapshot.threads = xreallocarray(NULL, count + 1, sizeof *snapshot.threads);
	for (size_t i = 0; i < count; i++) {
		struct remote_thread *thread = &snapshot.threads[snapshot.count];

		if (frames <= MOST_FRAMES)
			begin_thread(remote, until_ns, count - i);
		else
			remote->walks_until_ns = 1; /* no more time */
		if (remote_thread_read(remote, tids[i], thread) < 0)
			continue;
		snapshot.count++;
		frames += thread->stack.count;
	}
	if (snapshot.count == 0) {
		snapshot_done(&snapshot);
		return refusal_explain("dump", remote->pid, -ESRCH, err);
	}
	lock_owners_find(remote, snapshot.threads, snapshot.count);
	*out_snapshot = snapshot;
	return 0;
}

size_t snapshot_find_deadlock(const struct snapshot *snapshot, size_t from, size_t *out_circle)
{
	struct deadlock_edge *edges = xreallocarray(NULL, snapshot->count, sizeof *edges);
	size_t len;

	for (size_t i = 0; i < snapshot->count; i++)
		edges[i] = (struct deadlock_edge){ snapshot->threads[i].tid,
						   snapshot->threads[i].wait_owner };
	len = deadlock_find(edges, snapshot->count, from, out_circle);
	free(edges);
	/* Report each circle once, from its lowest thread. */
	for (size_t i = 0; i < len; i++) {
		if (out_circle[i] < from)
			return 0;
	}
	return len;
}

void snapshot_done(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++)
		remote_thread_done(&snapshot->threads[i]);
	free(snapshot->threads);
	*snapshot = (struct snapshot){ 0 };
}
