/*
 * short_threads - keeps sampling correct for threads that create many short-lived threads.
 *
 * Events that a new thread inherits make its perf context a clone of its creator's, and the
 * kernel exchanges clones' contexts at a switch between the two (kernel/events/core.c,
 * perf_event_context_sched_out): what the creator's event has counted of its period goes to the
 * new thread, and is lost when that ends.  A creator of many short threads is then hardly
 * sampled.  With an additional event on the creator that is not inherited, the kernel marks no
 * clones.  That event counts nothing and is switched off, but each switch between such threads
 * then stops and starts their events, which takes two to three times as long.  So it is opened
 * only on threads of which several children in a second were short-lived, and closed when that
 * is over.
 *
 * Its input are the sideband's reports; its memory is bounded.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ring.h"

/* Creators that are watched in one process. */
#define SHORT_THREADS_CREATORS RING_CREATORS

struct short_threads_creator {
	pid_t tid;          /* 0: the place is free */
	int fd;             /* -1: no event is open */
	uint32_t ends;      /* of short-lived children, in the window */
	uint64_t window_ns; /* when it began */
	uint64_t last_ns;   /* the last such end */
};

struct short_threads {
	struct short_threads_creator creators[SHORT_THREADS_CREATORS];
	size_t count; /* of places that were ever used */
};

/* An ended thread: its lifetime, and its CPU time as far as known. */
struct short_threads_life {
	pid_t creator;
	uint64_t end_ns, life_ns, cpu_ns, period_ns;
};
/*
 * Counts the end of a thread; open_on() opens the event on a creator that needs one.  Returns
 * whether the thread was short-lived.
 */
bool short_threads_take_end(struct short_threads *threads,
			    const struct short_threads_life *life, int (*open_on)(pid_t tid));
/* The thread ended: its tid may be another's. */
void short_threads_forget(struct short_threads *threads, pid_t tid);
/* The tid of the creator in this place if it has an event, else 0. */
uint32_t short_threads_event_tid(const struct short_threads *threads, size_t place);
/* Closes the events of creators of which no short-lived thread has ended for long. */
void short_threads_expire(struct short_threads *threads, uint64_t now_ns);
void short_threads_close(struct short_threads *threads);
