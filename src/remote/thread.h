/*
 * thread - one thread of a process as it is now: its state, its stack, what it waits for.
 *
 * A blocked thread is read between two looks at its state: the reading holds if it was in the
 * same system call at the same place both times, and no context switch was counted in between.
 *
 * Of a running thread the kernel copies registers and stack (running.h).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/stack.h"
#include "remote/task.h"
#include "remote/thread_state.h"
#include "remote/wait.h"
#include "remote/walk.h"

struct remote;

/* How far a thread's stack can be believed. */
enum thread_trust {
	THREAD_CONSISTENT, /* blocked during the whole reading */
	THREAD_COPIED,     /* running: the kernel copied its stack; interpreted frames agree */
	THREAD_AGREED,     /* running: interpreted frames only, which two reads found alike */
	THREAD_DOUBTFUL, /* running, and its interpreted frames changed while they were read */
	THREAD_UNREAD,   /* no stack was read: why_unread */
};

/* Where a thread acquired what another waits for. */
struct wait_place {
	const char *function; /* NULL: it is not known */
	const char *file;
	uint32_t line;    /* 0: not known */
	bool is_acquired; /* by acquire(), not by `with` */
};

struct remote_thread {
	pid_t tid, inner_tid;
	char state; /* as in /proc: 'R', 'S', 'D', 'T', 't', 'Z'; 0: it has ended */
	char name[TASK_NAME_SIZE];
	const char *long_name;    /* the name the program gave it; NULL: none but that */
	char kernel_function[64]; /* kernel function it waits in; "": unknown */
	struct task_call call;
	const char *call_text;     /* the system call, with all arguments; NULL: none */
	struct wait wait;          /* what it waits for */
	pid_t wait_owner;          /* thread id, to us, of what can end it; 0: none here */
	struct wait_place held_at; /* Python: where that thread took the lock */
	int signal;                /* of a core file: the signal it received; 0: none */
	struct thread_locks locks;
	struct walk_states states;
	enum thread_trust trust;
	const char *why_doubtful; /* NULL: it is not doubtful */
	const char *why_unread;   /* or why it lacks native frames; NULL: it lacks none */
	struct remote_stack stack;
};

/*
 * Reads everything about thread tid; interpreters' states must have been listed. -ESRCH: it
 * ended.
 */
int remote_thread_read(struct remote *remote, pid_t tid, struct remote_thread *out_thread);
/* Sets call_text and wait from its call, state and stack. */
void remote_thread_read_wait(struct remote *remote, struct remote_thread *thread);
void remote_thread_done(struct remote_thread *thread);
