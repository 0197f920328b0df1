/*
 * lock_owners - which of a process's threads hold the locks that its other threads wait for.
 *
 * CPython records no owner of a threading.Lock. A thread in the block of `with lock:` holds it;
 * a thread that called acquire() leaves no trace, so such a lock has no known owner here.
 */
#pragma once
#include <stddef.h>

struct remote;
struct remote_thread;

/* Sets each thread's wait_owner, and held_at where a `with` statement holds the lock. */
void lock_owners_find(struct remote *remote, struct remote_thread *threads, size_t count);
