/* snapshot - reads all threads of a process, one after the other, without stopping any. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "remote/thread.h"

struct error;
struct remote;

struct snapshot {
	/*
	 * By thread id, the process's first thread before others; of a core file in its order.
	 */
	struct remote_thread *threads;
	size_t count;
};

/*
 * Returns how much of the time left the next of `threads` threads may use for its stack: half of
 * what is not reserved for the others. A thread whose frames never end uses up no other's time.
 */
uint64_t snapshot_share_ns(uint64_t left_ns, size_t threads);
/* Threads that end meanwhile are left out. -ESRCH and a sentence if all did. */
int snapshot_read(struct remote *remote, struct snapshot *out_snapshot, struct error *err);
/*
 * The circle of threads that wait for each other's locks, or for each other's end, whose lowest
 * member is thread `from`. Stores their indexes in out_circle, which has room for count, and
 * returns how many; 0: there is none.
 */
size_t snapshot_find_deadlock(const struct snapshot *snapshot, size_t from, size_t *out_circle);
void snapshot_done(struct snapshot *snapshot);
