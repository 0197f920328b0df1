/*
 * lock_owners - which of a process's threads hold what others of it wait for.
 *
 * CPython keeps no owner of a threading.Lock.  A thread that is in the block of `with lock:` holds
 * it; of one that called acquire() that cannot be seen, and it has no owner here.
 */
#pragma once
#include <stddef.h>

struct remote;
struct remote_thread;

/* Sets wait_owner of each thread, and held_at of those that wait for what a `with` holds. */
void lock_owners_find(struct remote *remote, struct remote_thread *threads, size_t count);
