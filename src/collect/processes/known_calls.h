/*
 * known_calls - the recorder's last reading of the call tree that an agent keeps in shared
 * memory (abi/trace.h), and the rows that nodes and threads have in the recording.
 *
 * Part of an image.  calls/tree_reader.h brings it up to date.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace.h"
#include "collect/processes/call_costs.h"

#define CALL_TREE_NODES ((uint32_t)TRACE_CHUNKS * TRACE_CHUNK_NODES)

/* The last reading of a node. */
struct known_node {
	uint64_t calls, self_ticks; /* in the recording */
	uint64_t priced;            /* calls whose cost is counted (calls/limit.h) */
	uint64_t ns;                /* self time of the row, with time left out of it */
	uint32_t stack;             /* of the recording; for the outermost, 0 */
	uint32_t row;               /* of calls; 0: none so far */
	uint32_t missed_in;         /* the reading in which it, or a caller, had no name */
	bool has_stack;
};

struct known_thread {
	uint32_t row; /* of the recording; 0: the slot is free */
	int tid;
};

/* A node on the path from a node to the root, and its key when the path was walked. */
struct known_step {
	uint32_t node, outer;
	uint64_t key;
};

/* The decision of calls/limit.h.  Zero-initialized: calls are counted. */
struct trace_limit {
	bool is_throttled;
	uint64_t since_ns;     /* CLOCK_MONOTONIC */
	uint64_t throttled_ns; /* without the time since since_ns */
	uint32_t times;
};

/* Zero-initialized by known_calls_new(). */
struct known_calls {
	struct trace_area *area;
	struct known_node *chunks[TRACE_CHUNKS]; /* by chunk of the area; NULL: none seen */
	struct known_thread threads[TRACE_THREADS];
	bool is_ended[TRACE_THREADS]; /* in this reading */
	double counter_ns_per_tick;   /* of the machine's counter */
	double ns_per_tick;           /* of the clock that calls are timed by */
	double cpu_ns_per_tick;       /* if that clock is CPU time; else 0 */
	uint64_t most_ns;             /* the longest life of a thread */
	uint64_t now_ns;              /* of this reading */
	struct call_costs costs;
	struct known_step *path; /* scratch: a node's callers */
	size_t path_capacity;
	uint32_t reading; /* counted from 1 */
	uint64_t calls;
	struct trace_limit limit;
	double cost_ticks; /* overhead of tracing at the last check (calls/limit.h) */
	uint64_t nameless; /* callees whose names never came */
};

/* Never NULL.  The area stays the caller's. */
struct known_calls *known_calls_new(struct trace_area *area);
void known_calls_free(struct known_calls *known);
/* A node's last reading; zero at first. */
struct known_node *known_calls_node(struct known_calls *known, uint32_t node);
/* A node's key; 0: there is no such node, or it has no name so far. */
uint64_t known_calls_key(const struct known_calls *known, uint32_t node);
