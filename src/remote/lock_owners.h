/*
 * lock_owners - which of a process's threads hold the locks that its other threads wait for.
 *
 * CPython records no owner of a threading.Lock. A thread in the block of `with lock:` holds it,
 * and so does one between acquire() and release() of one function (python_acquired.h). A lock
 * that one function acquires and another releases has no known owner here.
 */
#pragma once
#include <stddef.h>

struct remote;
struct remote_thread;

/* Sets each thread's wait_owner, and held_at where a Python function holds the lock. */
void lock_owners_find(struct remote *remote, struct remote_thread *threads, size_t count);
