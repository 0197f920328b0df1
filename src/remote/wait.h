/*
 * wait - what a thread that is off the CPU waits for: its state, the system call and what that is
 * on, and which thread can end it.
 *
 * All is read from outside, of a thread that rests (task_rested()) or that a core file has; what
 * is read of a process that runs on meanwhile is bounded and may be of a later moment.
 *
 * Owners that can be had: a mutex of glibc's by its words (its own owner, whatever language locked
 * it), the GIL (CPython 3.7 and later), the GVL, CPython's RLock, Ruby's Mutex and Monitor, a
 * read-write lock of glibc's that is held for writing, and the thread whose end is waited for
 * (pthread_join, Thread.join(), Thread#join).  Conditions, semaphores, and CPython's Lock keep no
 * owner (lock_owners.h finds some of Lock's).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/wait_state.h"
#include "remote/task.h"
#include "remote/walk.h"

struct remote;
struct remote_stack;

/* The thread, as it was read. */
struct wait_thread {
	char state; /* of /proc: 'S', 'D', 'T', …; 0: not looked at */
	struct task_call call;
	struct walk_states states;
	/* Ruby's own waits (sleep, join, Mutex) are known by it only; NULL: not walked. */
	const struct remote_stack *stack;
};

/* What it is that has an owner. */
enum wait_on {
	WAIT_ON_NOTHING, /* with an owner that is known */
	WAIT_ON_GIL,
	WAIT_ON_GVL,
	WAIT_ON_MUTEX,      /* of pthread's */
	WAIT_ON_RWLOCK,     /* pthread's; its owner: what writes, none if threads read */
	WAIT_ON_RUBY_MUTEX, /* or a Monitor */
	WAIT_ON_PYTHON_LOCK,
	WAIT_ON_PYTHON_RLOCK,
	WAIT_ON_THREAD, /* its end */
};

struct wait {
	uint8_t state; /* enum wait_state; RUNNING: it did not rest */
	uint8_t on;    /* enum wait_on */
	uint64_t
		object; /* what it waits on: the lock's, or the thread's address; 0: not known */
	pid_t inner_owner; /* thread, as its own PID namespace numbers it; 0: not known, or none */
	uint32_t readers; /* how many threads hold the read-write lock for reading */
	/*
	 * "read(/var/lib/x.db)", "poll(2 sockets)", "futex(GIL)": without times and numbers of
	 * descriptors, so that waits of one kind are alike.  NULL: it is in no system call, or in
	 * a page fault.  Lives as long as the remote; of very many different ones the later have
	 * less in them.
	 */
	const char *label;
};

/* remote_python_list() and remote_ruby_list() have been called since the owner began. */
void wait_read(struct remote *remote, const struct wait_thread *thread, struct wait *out_wait);
/*
 * The owner of what that was on, at this moment, as its own PID namespace numbers it; 0: none, or
 * not known.  states are the thread's that waits.
 */
pid_t wait_owner_now(struct remote *remote, const struct wait *wait,
		     const struct walk_states *states);
/* The word of reports and JSON. */
const char *wait_state_word(enum wait_state state);
