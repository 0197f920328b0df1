/*
 * wall_holders - finds, at ticks of the wall clock, which threads of a process hold the Python
 * Locks that others wait for (remote/python_holders.h).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/python_holders.h"

struct image;
struct remote;
struct wait;
struct wait_thread;
struct wall;
struct wall_owned_wait;
struct wall_thread;

/* Locks whose holders are remembered during a tick: many threads may wait for one. */
#define WALL_HOLDERS_ANSWERS 16

/* Zero-initialized: nothing known. */
struct wall_holders {
	struct python_holders threads;
	uint64_t answered_ns; /* the tick of answers */
	struct {
		uint64_t lock;
		pid_t inner_owner;
	} answers[WALL_HOLDERS_ANSWERS];
	size_t answer_count;
};

struct wall_holders_terms {
	const struct wall *wall;
	struct image *image;
	struct remote *remote; /* whose Python threads are listed */
	const struct wall_owned_wait *owned;
	uint64_t now_ns, until_ns; /* this tick, and when to give up (monotonic) */
};

/* Notes what a thread waits for that was just read. */
void wall_holders_note(struct wall_holders *holders, const struct wall_thread *thread,
		       const struct wait_thread *met, const struct wait *wait);
/* python_holders_find(). */
pid_t wall_holders_find(struct wall_holders *holders, const struct wall_holders_terms *terms);
void wall_holders_done(struct wall_holders *holders);
