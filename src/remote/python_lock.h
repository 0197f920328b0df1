/*
 * python_lock - the threading-module lock that a Python thread waits for, and its owner.
 *
 * An RLock records its owner's thread_id; a Lock records none: python_with.h finds some of
 * them. Up to 3.13 either is an object that points to a semaphore of the C library; the waiting
 * thread's innermost Python frame has a reference to that object. From 3.14 on the lock is a
 * byte in the object (PyMutex); the waiting thread keeps its address next to the semaphore it
 * blocks on.
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
	uint64_t object;   /* of the Lock or RLock; 0: it waits for none, or it was not found */
	bool is_recursive; /* an RLock */
	pid_t inner_owner; /* as its own PID namespace numbers it; 0: none, or not known */
};

/* The lock that a thread with this stack, blocked in a futex, waits for. */
struct python_lock python_lock_find(struct remote *remote, const struct task_call *call,
				    const struct remote_stack *stack);
/* Whether a thread that blocks in this futex waits for the Lock or RLock. */
bool python_lock_has_futex(struct remote *remote, uint64_t object, uint64_t futex);
/* The thread that holds the RLock now; 0: none, or not known. */
pid_t python_rlock_owner(struct remote *remote, uint64_t object);
/* The thread that one with this stack waits for in Thread.join(); 0: none, or unknown. */
pid_t python_joined(struct remote *remote, const struct task_call *call,
		    const struct remote_stack *stack);
/* Whether the object is a threading.Lock or an RLock. */
bool python_is_lock(struct remote *remote, uint64_t object);
/* The lock of a threading.Condition; 0: the object is none. */
uint64_t python_condition_lock(struct remote *remote, uint64_t object);
