/*
 * short_threads - keeps the samples of a thread right whose children end young.
 *
 * Events that a new thread inherits make its perf context a clone of its creator's, and the
 * kernel exchanges clones' contexts at a switch between the two (kernel/events/core.c,
 * perf_event_context_sched_out): what the creator's event has counted of its period goes to the
 * new thread, and is lost when that ends.  A creator of many short threads is then hardly sampled.
 * An event on the creator that is not inherited makes the kernel mark no clone.  It counts
 * nothing and is switched off, but each switch between such threads then stops and starts their
 * events, which takes two to three times as long.  So it is opened only on threads of which
 * several children in a second ended young, and closed when that is over.
 *
 * Fed with what the sideband reports; what is remembered does not grow.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ring.h"

/* Threads of one process that create others; more are not seen to. */
#define SHORT_THREADS_CREATORS RING_CREATORS

struct short_threads_creator {
	pid_t tid;          /* 0: the place is free */
	int fd;             /* -1: no event is open */
	uint32_t ends;      /* of young children, in the window */
	uint64_t window_ns; /* when it began */
	uint64_t last_ns;   /* the last such end */
};

struct short_threads {
	struct short_threads_creator creators[SHORT_THREADS_CREATORS];
	size_t count; /* of places that were ever used */
};

/* A thread ended so long after it began.  cpu_ns: what it burned, as far as that is known. */
struct short_threads_life {
	pid_t creator;
	uint64_t end_ns, life_ns, cpu_ns, period_ns;
};
/* Returns whether it ended young. */
bool short_threads_take_end(struct short_threads *threads,
			    const struct short_threads_life *life, int (*open_on)(pid_t tid));
/* The thread ended: its tid may be another's. */
void short_threads_forget(struct short_threads *threads, pid_t tid);
/* The creator in this place if it has an event, else 0. */
uint32_t short_threads_event_tid(const struct short_threads *threads, size_t place);
/* Closes the events of those that have created no short thread for long. */
void short_threads_expire(struct short_threads *threads, uint64_t now_ns);
void short_threads_close(struct short_threads *threads);
