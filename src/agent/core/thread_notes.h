/*
 * thread_notes - what a thread remembers between two of its samples.
 *
 * All zero in a new thread.  The agent is preloaded, so this lies in the static TLS block: no
 * allocation on first use.  What one file alone has of a thread is a variable of its own there.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct thread_notes {
	int tid;             /* 0: no sample yet */
	int born_tid;        /* that of a thread which the agent saw begin; 0: of another */
	u64 last_time_ns;    /* CLOCK_MONOTONIC at the last sample */
	u64 own_stack_low;   /* [own_stack_low, top) has been proven readable */
	u64 own_stack_floor; /* below it, nothing is the thread's own stack */
	u64 name_hash;       /* of what the program calls it, as was sent; 0: nothing was */
	u64 named_ns;        /* when that was looked at last (CLOCK_MONOTONIC) */
	u64 start_function;  /* 0: it began before sampling did, or unseen */
	u32 name_looks;      /* how often, up to some */
	u32 attach;          /* agent_hello.attaches, when its account was begun */
	bool is_in_agent;    /* it executes our code, and no handler */
	bool is_by_timers;   /* its samples stand for the time since the last: sample/clock.c */
	bool is_ending;      /* its start function has returned: thread_end.c */
};
extern __thread struct thread_notes thread_notes;
