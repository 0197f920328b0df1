/*
 * thread_events - one perf event on each thread that a process has at this moment; the
 * threads to come inherit theirs.
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
	 * With rungs they are events of one thread with different periods, of which one is on: that
	 * with this index.  0: without.
	 */
	unsigned int rungs, rung;
};

/*
 * Opens them: open_on() gives a descriptor or -errno.  A thread that has ended meanwhile is
 * passed over; any other failure is the result, and so is a process that has no thread left.
 */
int thread_events_open(struct thread_events *events, pid_t pid,
		       int (*open_on)(void *context, pid_t tid), void *context);
/* The same of a process that makes threads meanwhile: /proc is read until none is new. */
int thread_events_open_all(struct thread_events *events, pid_t pid,
			   int (*open_on)(void *context, pid_t tid), void *context);
void thread_events_close(struct thread_events *events);
/*
 * So many events of one thread, each with its inheritors, in place of the only one that is there;
 * all but that of this rung are open and off.  open_on is asked for each, from 1 on.  True if they
 * are there; else it is as it was.
 */
bool thread_events_add_rungs(struct thread_events *events, unsigned int rungs,
			     int (*open_on)(void *context, unsigned int rung), void *context);
/* Switches the one of this rung on in place of the one that is, unless all are off. */
void thread_events_step(struct thread_events *events, unsigned int rung, bool are_off);
/* Their counts together, in ns. */
uint64_t thread_events_read(const struct thread_events *events);
/*
 * Switches them off or on, those that later threads inherited among them
 * (kernel/events/core.c, perf_event_for_each_child).  A thread that was being born meanwhile
 * may be missed: switching off once more, a moment later, reaches it.
 */
void thread_events_switch(const struct thread_events *events, int is_on);
