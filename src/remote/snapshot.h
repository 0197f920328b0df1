/*
 * snapshot - all threads of a process, one after the other, none of them stopped.
 */
#pragma once
#include <stddef.h>

#include "remote/thread.h"

struct error;
struct remote;

struct snapshot {
	/* By number, the process's first thread before others; of a core file as it has them. */
	struct remote_thread *threads;
	size_t count;
};

/* Threads that end meanwhile are left out.  -ESRCH and a sentence when all of them did. */
int snapshot_read(struct remote *remote, struct snapshot *out_snapshot, struct error *err);
/*
 * The circle of threads that wait for each other's locks, or ends, and begins with thread `from`, which
 * has the lowest number in it: numbers in the snapshot, in out_circle, which has room for count.
 * Its length, 0: there is none.
 */
size_t snapshot_find_deadlock(const struct snapshot *snapshot, size_t from, size_t *out_circle);
void snapshot_done(struct snapshot *snapshot);
