/*
 * thread_events - opens one perf event on each present thread of a process; later threads
 * inherit theirs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_events {
	int *fds;
	size_t count, capacity;
	/*
	 * If rungs > 0, fds are events of one thread with different periods, and only fds[rung]
	 * is on.
	 */
	unsigned int rungs, rung;
};

/*
 * Opens the events: open_on() returns a descriptor or -errno.  A thread that has ended
 * meanwhile is skipped; any other failure is returned, and -ESRCH if the process has no thread
 * left.
 */
int thread_events_open(struct thread_events *events, pid_t pid,
		       int (*open_on)(void *context, pid_t tid), void *context);
/* The same for a process that creates threads meanwhile: /proc is read until none is new. */
int thread_events_open_all(struct thread_events *events, pid_t pid,
			   int (*open_on)(void *context, pid_t tid), void *context);
void thread_events_close(struct thread_events *events);
/*
 * Adds events with other periods to the only event of a thread: open_on() opens each rung from
 * 1 on, switched off.  On false nothing has changed.
 */
bool thread_events_add_rungs(struct thread_events *events, unsigned int rungs,
			     int (*open_on)(void *context, unsigned int rung), void *context);
/*
 * Makes this rung's event the active one.  are_off: the events are switched off, and stay so.
 */
void thread_events_step(struct thread_events *events, unsigned int rung, bool are_off);
/* The sum of their counts, in ns. */
uint64_t thread_events_read(const struct thread_events *events);
/*
 * Switches the events off or on, with those that later threads inherited (kernel/events/core.c,
 * perf_event_for_each_child).  A thread that is being created meanwhile may be missed:
 * switching off again a moment later reaches it.
 */
void thread_events_switch(const struct thread_events *events, int is_on);
