/*
 * wait - what an off-CPU thread waits for: its state, its system call and that call's object,
 * and which thread can end the wait.
 *
 * Everything is read from outside, for a blocked thread (task_rested()) or one of a core file;
 * memory of a process that runs on meanwhile is bounded and may be of a later moment.
 *
 * Owners that can be found: of a glibc mutex by its fields (its own owner, whatever language
 * locked it), the GIL (CPython 3.7 and later), the GVL, CPython's RLock, Ruby's Mutex and
 * Monitor, a glibc read-write lock held for writing, and the thread that is joined
 * (pthread_join, Thread.join(), Thread#join). Conditions, semaphores, and CPython's Lock record
 * no owner (lock_owners.h finds some of Lock's).
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

/* The waiting thread, as it was read. */
struct wait_thread {
	char state; /* from /proc: 'S', 'D', 'T', …; 0: not read */
	struct task_call call;
	struct walk_states states;
	/*
	 * Ruby's own waits (sleep, join, Mutex) are recognised only by the stack; NULL: not
	 * walked.
	 */
	const struct remote_stack *stack;
};

/* The kind of object waited for, among those that have an owner. */
enum wait_on {
	WAIT_ON_NOTHING, /* no object with a known owner */
	WAIT_ON_GIL,
	WAIT_ON_GVL,
	WAIT_ON_MUTEX,  /* a pthread mutex */
	WAIT_ON_RWLOCK, /* a pthread rwlock; its owner is the writer; none if threads read */
	WAIT_ON_RUBY_MUTEX, /* or a Monitor */
	WAIT_ON_PYTHON_LOCK,
	WAIT_ON_PYTHON_RLOCK,
	WAIT_ON_THREAD, /* the end of a thread */
};

struct wait {
	uint8_t state;     /* enum wait_state; RUNNING: it was not blocked */
	uint8_t on;        /* enum wait_on */
	uint64_t object;   /* address of the lock or thread waited for; 0: unknown */
	pid_t inner_owner; /* thread, as its own PID namespace numbers it; 0: unknown or none */
	uint32_t readers;  /* how many threads hold the read-write lock for reading */
	/*
	 * "read(/var/lib/x.db)", "poll(2 sockets)", "futex(GIL)": without times and descriptor
	 * numbers, so that waits of one kind have equal labels. NULL: in no system call, or in
	 * a page fault. Lives as long as the remote; after LABELS_MAX different ones, labels
	 * get less detailed.
	 */
	const char *label;
};

/*
 * remote_python_list() and remote_ruby_list() must have been called since the owner's thread
 * began.
 */
void wait_read(struct remote *remote, const struct wait_thread *thread, struct wait *out_wait);
/*
 * The current owner of wait's object, as its own PID namespace numbers it; 0: none, or unknown.
 * states are the waiting thread's.
 */
pid_t wait_owner_now(struct remote *remote, const struct wait *wait,
		     const struct walk_states *states);
/* The word for the state in reports and JSON. */
const char *wait_state_word(enum wait_state state);
