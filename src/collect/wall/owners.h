/*
 * wall_owners - waits of threads for what other threads own, such as locks: session/owners.h.
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
	struct recording_owner marked; /* as last written */
	bool is_over;
	uint64_t serial;    /* of this wait: session_owners_take() */
	uint64_t looked_ns; /* when its owner was last read */
	uint64_t marked_ns; /* when marked was written */
	uint64_t futex;     /* in which it waits; 0: in none */
	struct wait wait;
	struct walk_states states;
};

struct wall_owners {
	struct wall_owned_wait *waits;
	size_t count, capacity;
	struct table by_thread;   /* row to index in waits + 1 */
	uint64_t tick_ns, last_ns; /* the last tick, and the one before */
	size_t next;              /* the next to check, if they are too many for a tick */
};
