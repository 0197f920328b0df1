/*
 * thread - one thread of a process, as it is now: its state, its stack, what it waits for.
 *
 * Of one that runs, the kernel copies registers and stack (running.h).
 *
 * A thread that rests is read between two looks at its state: what was read holds if it was in
 * the same system call at the same place both times, and no switch was counted in between.
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
	THREAD_CONSISTENT, /* it rested from the first byte read to the last */
	THREAD_COPIED,     /* it ran: the kernel copied its stack; interpreted frames agree */
	THREAD_AGREED,     /* it ran: interpreted frames only, which two reads found alike */
	THREAD_DOUBTFUL,   /* it ran, and on while its interpreter's frames were read */
	THREAD_UNREAD,     /* it has no stack here: why_unread */
};

/* Where a thread came to hold what another waits for. */
struct wait_place {
	const char *function; /* NULL: it is not known */
	const char *file;
	uint32_t line; /* 0: not known */
};

struct remote_thread {
	pid_t tid, inner_tid;
	char state; /* as in /proc: 'R', 'S', 'D', 'T', 't', 'Z'; 0: it has ended */
	char name[TASK_NAME_SIZE];
	const char *long_name;    /* what the program calls it; NULL: no more than that */
	char kernel_function[64]; /* where in the kernel it waits; "": not known */
	struct task_call call;
	const char *call_text; /* the system call, with times and numbers; NULL: none */
	struct wait wait;      /* what it waits for */
	pid_t wait_owner; /* our number of the thread that can end it; 0: not one of them */
	struct wait_place held_at; /* the `with` by which that thread holds it, of Python */
	int signal;                /* of a core file: that it got; 0: none */
	struct thread_locks locks;
	struct walk_states states;
	enum thread_trust trust;
	const char *why_doubtful; /* NULL: it is not */
	const char *why_unread;   /* or has no native frames; NULL: it has all */
	struct remote_stack stack;
};

/* Reads all there is of thread tid, whose interpreters' states are listed.  -ESRCH: it ended. */
int remote_thread_read(struct remote *remote, pid_t tid, struct remote_thread *out_thread);
/* call_text and wait, by its call, state and stack. */
void remote_thread_read_wait(struct remote *remote, struct remote_thread *thread);
void remote_thread_done(struct remote_thread *thread);
