/*
 * wall_owners - waits of threads for what other threads own, such as locks: session/owners.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "record/recording.h"
#include "remote/wait.h"

/* What the last tick's look at a wait found, until that is written. */
enum wall_look {
	WALL_LOOK_DONE,    /* it is written, or the wait was read since */
	WALL_LOOK_DUE,     /* there was none so far */
	WALL_LOOK_NOTHING, /* the thread waits no more, or for something else */
	WALL_LOOK_OWNER,
};

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
	enum wall_look look;
	uint64_t met_serial; /* of the wait it found, */
	pid_t met_owner;     /* and the owner: wall_reader_owner() */
};

struct wall_owners {
	struct wall_owned_wait *waits;
	size_t count, capacity;
	struct table by_thread;    /* row to index in waits + 1 */
	uint64_t tick_ns, last_ns; /* the last tick, and the one before */
	size_t first;              /* with which the present tick began, */
	size_t next;               /* the next to write, if they are too many for a tick */
};
