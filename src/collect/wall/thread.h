/*
 * wall_thread - where one thread's life goes on the wall clock: what its switches and the reads of
 * its stack add up to.
 *
 * Pure: it is given moments and figures, and gives rows for the recording.
 *
 * Of each wait its length is known, of some the stack, read once at a tick of the wall clock.  The
 * stack stands for the whole wait, or for the time between two ticks if the wait is shorter: it
 * was met with the chance of its length over that.  What such reads of short waits stand for is
 * taken out of the sum of all short waits; what is left of that has a row without a stack.  So the
 * rows' sum is the thread's life, whatever was read.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/wait_state.h"
#include "collect/wall/row.h"

/* Short waits that were read and do not have their time yet: more than that of a kind is rare. */
#define WALL_CREDITS 8

enum wall_place { WALL_RUNS, WALL_QUEUES, WALL_WAITS };

/* Waits with one stack that ended, the last of them at end_ns. */
struct wall_credit {
	struct wall_read read;
	uint64_t ns, end_ns;
};

/* /proc/PID/task/TID/schedstat */
struct wall_sched {
	uint64_t run_ns, delay_ns, slices;
};

struct wall_thread {
	uint32_t row; /* of the recording */
	pid_t pid, tid, inner_tid;
	int sched_fd;          /* schedstat; -1: it is not open */
	uint64_t named_ns;     /* its name in its language was read last; 0: never */
	uint64_t start_ns;     /* its life begins */
	uint64_t end_ns;       /* UINT64_MAX: it lives */
	bool is_listed;        /* it is to be read */
	bool is_touched;       /* it was switched since it was settled */
	bool is_guessed;       /* its place: no switch was seen so far */
	bool is_coarse;        /* no switches are reported: schedstat */
	enum wall_place place; /* and since when: */
	uint64_t since_ns;
	uint64_t booked_ns; /* of a long wait, up to then it is in rows */
	uint64_t serial;    /* goes up with each switch */
	bool is_read;       /* this wait: */
	struct wall_read read;
	uint64_t gap_ns; /* so far apart were ticks then */
	/* What it waited in when it was looked at as an owner: session_owners.c; serial + 1 then. */
	uint32_t owner_stack;
	uint64_t owner_serial;

	uint64_t running_ns, claimed_ns; /* it ran; and what samples stand for of that */
	uint64_t queued_ns;              /* runnable, and in no row yet */
	uint64_t short_ns;               /* of waits that are in no row yet */
	struct wall_credit credits[WALL_CREDITS];
	uint32_t credit_count;
	uint64_t by_state[WAIT_STATE_COUNT]; /* what short waits that were met stand for */
	uint8_t met;                         /* the state of the wait that was met last */
	uint64_t falls_asleep_ns; /* it was preempted on its way to a wait, and is in no row */

	/* Since it was settled. */
	uint64_t wakeups;
	struct wall_credit ended; /* a long wait that ended; ns 0: none did */
	/* Since schedstat was as sched has it, by the records of switches. */
	bool has_sched, has_run; /* without has_run run_ns of it is not to be used */
	struct wall_sched sched;
	uint64_t switches_in, new_queued_ns, new_running_ns;
	uint64_t misses; /* looks at schedstat that had another count of switches */
	/* What schedstat has more than the records, and no wait has given yet. */
	uint64_t due_queued_ns, due_running_ns;

	/* Coarse: from that moment on, what schedstat had then, and what was booked since. */
	uint64_t coarse_ns, coarse_running_ns, waited_ns, delayed_ns;
	struct wall_sched coarse_sched;
};

/* The thread's life begins, or what is known of it. */
void wall_thread_begin(struct wall_thread *thread, enum wall_place place, uint64_t time_ns);
/* It was taken from its CPU, or given one. */
void wall_thread_switch_out(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t time_ns, bool is_preempted);
void wall_thread_switch_in(struct wall_thread *thread, const struct wall_rows *rows,
			   uint64_t time_ns);
/*
 * The wait that it is in was read, at a tick that was gap_ns after the one before.  is_whole: it
 * was still in it when the read was over; else it was met in such a wait, which has ended.
 */
void wall_thread_take_read(struct wall_thread *thread, const struct wall_read *read,
			   uint64_t gap_ns, bool is_whole);
/*
 * All its switches up to now are taken in.  sched: what schedstat says, or NULL.  What a thread
 * waited for a CPU at the end of its waits is only in that figure, and what the switches
 * themselves took, some 10 us, is CPU time there and a part of the wait in the records: each of
 * the waits that ended gives the same part of it.  False: schedstat has switches that were not
 * taken in yet; it is to be settled at the next tick, too.
 */
bool wall_thread_settle(struct wall_thread *thread, const struct wall_rows *rows,
			const struct wall_sched *sched);
/* Puts what it has waited so far into a row, if that is worth one. */
void wall_thread_book(struct wall_thread *thread, const struct wall_rows *rows,
		      uint64_t now_ns);
/* So much of a sample's time as the thread has run: what the sample may stand for. */
uint64_t wall_thread_claim(struct wall_thread *thread, uint64_t ns, uint64_t now_ns);
/* It has ended, or what is known of it has. */
void wall_thread_end(struct wall_thread *thread, const struct wall_rows *rows,
		     uint64_t time_ns);
/* No sample of it comes any more: the rest of its life goes into rows. */
void wall_thread_close(struct wall_thread *thread, const struct wall_rows *rows);

/* From now on its switches are not reported: schedstat's figures of this moment. */
void wall_thread_begin_coarse(struct wall_thread *thread, const struct wall_rows *rows,
			      const struct wall_sched *sched, uint64_t now_ns);
/*
 * At a tick: its figures, and what was read of its wait; NULL: it does not wait.  The read may be
 * the one before, if it was not switched since.
 */
void wall_thread_look(struct wall_thread *thread, const struct wall_rows *rows,
		      const struct wall_sched *sched, const struct wall_read *read,
		      uint64_t now_ns);
