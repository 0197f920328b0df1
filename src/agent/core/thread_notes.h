/*
 * thread_notes - what the agent remembers of a thread between two of its samples.
 *
 * All zero in a new thread.  The agent is preloaded, so this is in the static TLS block: no
 * allocation on first use.  Thread-local state of a single file is a variable of that file.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct thread_notes {
	int tid;             /* 0: no sample yet */
	int born_tid;        /* its tid, if the agent saw the thread begin; else 0 */
	u64 last_time_ns;    /* CLOCK_MONOTONIC at the last sample */
	u64 own_stack_low;   /* [own_stack_low, top) has been proven readable */
	u64 own_stack_floor; /* below it, nothing is the thread's own stack */
	u64 name_hash;       /* of the thread's name that was sent last; 0: none was */
	u64 named_ns;        /* when the name was looked at last (CLOCK_MONOTONIC) */
	u64 start_function;  /* 0: the thread began before sampling did, or unseen */
	u32 name_looks;      /* how often the name was looked at, up to a limit */
	u32 attach;          /* own_handshake.attaches when the thread's account was begun */
	bool is_in_agent;    /* it runs our code outside of handlers: no samples */
	bool is_by_timers;   /* samples stand for the time since the last: clock.c */
	bool is_ending;      /* its start function has returned: thread_end.c */
};
extern __thread struct thread_notes thread_notes;
