/*
 * thread_state - what interpreters know of a thread: its state in them, and which lock it holds.
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

/* Among the states that were listed; those that are known already stay. */
void thread_state_find(struct remote *remote, pid_t inner_tid, struct walk_states *states);
/* At this moment, of a thread with these states that is in this call. */
struct thread_locks thread_state_locks(struct remote *remote, const struct walk_states *states,
				       const struct task_call *call);
