/*
 * python_lock - the lock of CPython's threading module that a thread waits for, and its owner.
 *
 * An RLock has its owner's thread_id; a Lock has none: python_with.h finds some of them.  Up to
 * 3.13 either is an object that points to a semaphore of the C library; the waiting thread's
 * innermost Python frame has a reference to that object.  From 3.14 on the lock is a byte in the
 * object (PyMutex), whose address the waiting thread keeps beside the semaphore it rests in.
 *
 * Sources: Modules/_threadmodule.c, Python/parking_lot.c of CPython 3.6 to 3.14.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct remote_stack;
struct task_call;

struct python_lock {
	uint64_t object; /* the Lock's, or RLock's; 0: it waits for none, or it was not found */
	bool is_recursive; /* an RLock */
	pid_t inner_owner; /* as its own PID namespace numbers it; 0: none, or not known */
};

/* The lock that a thread with this stack waits for in a futex. */
struct python_lock python_lock_find(struct remote *remote, const struct task_call *call,
				    const struct remote_stack *stack);
/* The thread that holds the RLock now; 0: none, or not known. */
pid_t python_rlock_owner(struct remote *remote, uint64_t object);
/*
 * The thread whose end one with this stack waits for in Thread.join(); 0: none, or not known.
 */
pid_t python_joined(struct remote *remote, const struct task_call *call,
		    const struct remote_stack *stack);
