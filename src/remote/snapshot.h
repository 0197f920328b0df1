/*
 * snapshot - all threads of a process, one after the other, none of them stopped.
 */
#pragma once
#include <stddef.h>

#include "remote/thread.h"

struct error;
struct remote;

struct snapshot {
	struct remote_thread *threads; /* by number, the process's first thread before others */
	size_t count;
};

/* Threads that end meanwhile are left out.  -ESRCH and a sentence when all of them did. */
int snapshot_read(struct remote *remote, struct snapshot *out_snapshot, struct error *err);
void snapshot_done(struct snapshot *snapshot);
