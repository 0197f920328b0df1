/*
 * thread_state - interpreters' data about a thread: its state struct, and which lock it holds.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct remote;
struct task_call;
struct walk_states;

struct thread_locks {
	bool holds_gil, waits_for_gil, holds_gvl;
};

/* Looks among the listed states; those already set are kept. */
void thread_state_find(struct remote *remote, pid_t inner_tid, struct walk_states *states);
/* The locks now, of a thread with these states that is in this system call. */
struct thread_locks thread_state_locks(struct remote *remote, const struct walk_states *states,
				       const struct task_call *call);
