/*
 * copied_events - perf events whose samples hold registers and the top of the stack, copied by
 * the kernel: they sample processes that have no agent.
 *
 * Each event is for one thread and one CPU: the kernel maps no ring for an inherited event that
 * follows its thread over all CPUs.  Each CPU has one ring, owned by an event on the recorder
 * itself that counts nothing, so that the ring outlives the recorded threads.
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
	bool is_user_mode_only; /* else also kernel time, with the kernel's functions */
};

/* One ring for each CPU. */
struct copied_rings {
	struct perf_ring *rings;
	int *owners; /* by CPU; negative: the CPU is offline */
	size_t count;
	uint32_t stack_bytes; /* copied into each sample at most */
	int poll_fd;          /* readable when an eighth of a ring is full */
};

/*
 * Opens rings of one size, as large as the limit on locked memory allows.  0, or -errno and a
 * sentence.
 */
int copied_rings_open(struct copied_rings *out_rings, struct error *err);
void copied_rings_close(struct copied_rings *rings);

/*
 * The events that sample a process and its descendants.  Each image that they sample holds a
 * reference: inherited events end, too, when the descriptors are closed.
 */
struct copied_events {
	struct thread_events events;
	struct table turns; /* event identifier to copied_events_turn() */
	uint32_t holders;
};

enum copied_reach {
	COPIED_THREADS,     /* all threads, present and future */
	COPIED_DESCENDANTS, /* the same, and future child processes */
	COPIED_FROM_EXEC,   /* threads and child processes, from the next exec on */
	COPIED_THREADS_FROM_EXEC,
};

/*
 * Opens events on all threads of pid, scanning until no new ones show up.  -errno: -ESRCH, no
 * thread is left; -EMFILE, it has too many threads; -EACCES or -EPERM, it may not be sampled.
 */
int copied_events_open(const struct copied_rings *rings, const struct copied_terms *terms,
		       pid_t pid, enum copied_reach reach, struct copied_events **out_events);
struct copied_events *copied_events_hold(struct copied_events *events);
/* Drops a reference; the last one closes the events. */
void copied_events_release(struct copied_events *events);
/*
 * The number, from 1, of the thread on which the event with that identifier was opened, in the
 * order of opening.  A thread that was created meanwhile may have two events: one inherited
 * from its creator, and its own, which has the higher number.
 */
uint32_t copied_events_turn(const struct copied_events *events, uint64_t id);
/*
 * Tries whether copied events can be opened on pid, and fills in the ability and its sentence.
 * -errno, and the reason in ability->why, if they are refused.
 */
int copied_events_judge(pid_t pid, bool is_user_clock, struct perf_ability *ability);
