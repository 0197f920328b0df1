/*
 * copied_events - perf events whose samples hold registers and the top of the stack, copied by the
 * kernel: what samples processes that no agent is in.
 *
 * An event has to be of one thread and one CPU: the kernel lets none be read that follows a thread
 * and its children over all CPUs.  Each CPU has one ring, owned by an event on ourselves that
 * counts nothing, so that the ends of threads do not matter to it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "collect/events/perf_ring.h"
#include "collect/events/thread_events.h"

struct error;
struct perf_ability;

struct copied_terms {
	uint64_t period_ns;
	bool is_user_mode_only; /* else kernel time is sampled, too, with its functions */
};

/* The rings. */
struct copied_rings {
	struct perf_ring *rings;
	int *owners; /* by CPU; -1: that CPU is not there */
	size_t count;
	uint32_t stack_bytes; /* copied into each sample at most */
	int poll_fd;          /* readable when a ring has got some way full */
};

/* 0 or -errno and a sentence.  All of them are of one size, as large as locked memory allows. */
int copied_rings_open(struct copied_rings *out_rings, struct error *err);
void copied_rings_close(struct copied_rings *rings);

/*
 * What samples a process and what descends from it: held by each image that it samples, for with
 * the last descriptor the events that were inherited end, too.
 */
struct copied_events {
	struct thread_events events;
	struct table turns; /* identifiers of events to the turn of their thread, from 1 */
	uint32_t holders;
};

enum copied_reach {
	COPIED_THREADS,     /* and threads to come */
	COPIED_DESCENDANTS, /* and processes to come */
	COPIED_FROM_EXEC,   /* the same, from the next exec on */
	COPIED_THREADS_FROM_EXEC,
};

/*
 * Opens them on all threads there are, again until no new ones show up.  -errno: -ESRCH, no thread
 * is left; -EMFILE, it has too many threads; -EACCES or -EPERM, it may not be sampled.
 */
int copied_events_open(const struct copied_rings *rings, const struct copied_terms *terms,
		       pid_t pid, enum copied_reach reach, struct copied_events **out_events);
struct copied_events *copied_events_hold(struct copied_events *events);
/* By its holder; with the last one they end. */
void copied_events_release(struct copied_events *events);
/*
 * When the event of that identifier was opened, among the process's threads.  A thread that was
 * born meanwhile may have two: that of its creator, and its own, which came later.
 */
uint32_t copied_events_turn(const struct copied_events *events, uint64_t id);
/*
 * What can be had on pid: fills in what such events need of the ability, with its sentence.  -errno,
 * and in the ability why, if they are refused.
 */
int copied_events_judge(pid_t pid, bool is_user_clock, struct perf_ability *ability);
