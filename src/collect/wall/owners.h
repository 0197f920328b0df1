/*
 * wall_owners - threads that wait, or did, for what others own: session/owners.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "record/recording.h"
#include "remote/wait.h"

/* The last such wait of a thread. */
struct wall_owned_wait {
	uint32_t thread;               /* row of the recording */
	uint32_t stack;                /* likewise: where it waits */
	struct recording_owner marked; /* as it was written last */
	bool is_over;
	uint64_t serial;    /* of this wait: session_owners_take() */
	uint64_t looked_ns; /* its owner was looked at last */
	uint64_t marked_ns; /* when that was */
	uint64_t futex;     /* that it waits in; 0: in none */
	struct wait wait;
	struct walk_states states;
};

struct wall_owners {
	struct wall_owned_wait *waits;
	size_t count, capacity;
	struct table by_thread;   /* by row, to the number of one of waits + 1 */
	uint64_t tick_ns, gap_ns; /* the last tick, and how long after the one before */
	size_t next; /* the one that is looked at next, where they are too many for a tick */
};
