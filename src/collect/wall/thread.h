/*
 * wall_thread - divides one thread's life on the wall clock into running, queueing for a CPU
 * and waiting, by its switches and the reads of its stack.
 *
 * Pure computation: the input is times and figures, the output rows for the recording.
 *
 * The length of every wait is known; the stack only of those that were read, at a tick of the
 * wall clock.  The stack stands for the whole wait, or for the time between two ticks if the
 * wait is shorter: the chance of reading it was its length over that time.  The time of short
 * waits that were read is taken from the sum of all short waits of about that length; the
 * remainder gets a row without a stack.  So the sum of rows is the thread's life, whatever was
 * read; and ticks that come late, since the recorder waits for a CPU as the thread does, take
 * no time from waits of one length for those of another.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/wait_state.h"
#include "collect/wall/row.h"

/* Different short waits that were read and have not got their time yet: more are rare. */
#define WALL_CREDITS 16
/* Waits that were read and ended since the thread was settled: on a busy machine some ticks. */
#define WALL_ENDED 8
/* Waits are put together by their length: below 64 us, 128 us, … 32 ms, and longer ones. */
#define WALL_LENGTHS      11
#define WALL_LENGTH_LEAST 64000ULL
/* Usual lengths are more exact: by parts of each of these. */
#define WALL_USUAL_PARTS 8
#define WALL_USUAL       (WALL_LENGTHS * WALL_USUAL_PARTS)
/* Waits since the thread was settled that were not read, and of which each one's length is kept. */
#define WALL_UNREAD 32

enum wall_place { WALL_RUNS, WALL_QUEUES, WALL_WAITS };

/* Due to short waits of one length with one stack, the last of which ended at end_ns. */
struct wall_credit {
	struct wall_read read;
	uint8_t length;
	uint64_t ns, end_ns;
};

/* A wait that was read and has ended. */
struct wall_ended {
	struct wall_read read;
	uint64_t ns, end_ns; /* without what is in rows */
	uint64_t gap_ns; /* the distance of ticks when it was read; 0: part of it is in rows */
};

/* Short waits of about one length. */
struct wall_short {
	uint64_t ns;                         /* that is in no row yet */
	uint64_t by_state[WAIT_STATE_COUNT]; /* time of those that were read */
};

struct wall_sum {
	uint64_t ns, count;
};

/* /proc/PID/task/TID/schedstat */
struct wall_sched {
	uint64_t run_ns, delay_ns, slices;
};

/*
 * What was read of the short waits of threads that have ended, of one kind: a thread may end
 * before it was read.  A short life has less time than its waits that were read stand for: the
 * others of its kind that were not read have the rest, which is due.
 */
struct wall_kind {
	uint64_t by_state[WALL_LENGTHS][WAIT_STATE_COUNT];
	uint64_t due[WALL_LENGTHS][WAIT_STATE_COUNT];
};

struct wall_thread {
	uint32_t row; /* of the recording */
	pid_t pid, tid, inner_tid;
	int sched_fd;          /* schedstat; -1: it is not open */
	uint64_t named_ns;     /* when its name in its language was read; 0: never */
	uint64_t start_ns;     /* when its life begins */
	uint64_t end_ns;       /* UINT64_MAX: it has not ended */
	bool is_listed;        /* it is in the list of threads to be read */
	bool is_touched;       /* it was switched since the last settling */
	bool is_guessed;       /* place is a guess: no switch was seen so far */
	bool is_coarse;        /* no switches are reported: schedstat */
	enum wall_place place; /* and since when: */
	uint64_t since_ns;
	uint64_t booked_ns; /* up to then a long wait is in rows */
	uint64_t serial;    /* incremented at each switch */
	bool is_read;       /* this wait was read: */
	struct wall_read read;
	uint64_t gap_ns; /* the distance of ticks then */
	/*
	 * Its stack when it was last read as the owner of something (session/owners.c), and
	 * serial + 1 at that moment.
	 */
	uint32_t owner_stack;
	uint64_t owner_serial;

	uint64_t running_ns, claimed_ns; /* time it ran; the part that samples stand for */
	uint64_t queued_ns;              /* runnable, and in no row yet */
	struct wall_short shorts[WALL_LENGTHS];
	struct wall_kind *kind; /* not owned; NULL: none */
	struct wall_credit credits[WALL_CREDITS];
	uint32_t credit_count;
	uint8_t met;              /* the state of the wait that was read last */
	uint64_t falls_asleep_ns; /* preempted on its way to a wait; in no row yet */
	/* How long it was runnable after waits: all, by state, and by length if not read. */
	struct wall_sum queued, delays[WAIT_STATE_COUNT], unread_delays[WALL_LENGTHS];
	/* Waits by length, of those after which it was hardly runnable. */
	uint32_t usual[WALL_USUAL], usual_count;

	/* Since the last wall_thread_settle(). */
	uint64_t wakeups;
	struct wall_ended ended[WALL_ENDED];
	uint32_t ended_count;
	uint64_t unread_ns[WALL_UNREAD]; /* ended without having been read: the first ones, */
	uint32_t unread_count;
	struct wall_sum unread[WALL_LENGTHS]; /* and the others, by length */
	/* The last of them, if it was the last wait, else 0; and when it ended. */
	uint64_t last_unread_ns, last_end_ns;
	/* By the records of switches since schedstat was as in sched. */
	bool has_sched, has_run; /* without has_run, sched.run_ns is not to be used */
	struct wall_sched sched;
	uint64_t switches_in, new_queued_ns, new_running_ns;
	uint64_t misses; /* readings of schedstat with another count of switches */
	/* How much more schedstat has than the records, which no wait has given yet. */
	uint64_t due_queued_ns, due_running_ns;

	/* Coarse: from that moment on, what schedstat had then, and what was booked since. */
	uint64_t coarse_ns, coarse_running_ns, waited_ns, delayed_ns;
	uint64_t turn_ns; /* when it was its turn to be read last */
	uint64_t rest_ns; /* since when it has not been switched */
	struct wall_sched coarse_sched;
};

/* The thread's life begins, or what is known of it. */
void wall_thread_begin(struct wall_thread *thread, enum wall_place place, uint64_t time_ns);
/* The thread was switched out, or in. */
void wall_thread_switch_out(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t time_ns, bool is_preempted);
void wall_thread_switch_in(struct wall_thread *thread, const struct wall_rows *rows,
			   uint64_t time_ns);
/* Its wait was read, at a tick gap_ns after the one before, and goes on. */
void wall_thread_take_read(struct wall_thread *thread, const struct wall_read *read,
			   uint64_t gap_ns);
/*
 * Its state was read likewise, at met_ns (CLOCK_MONOTONIC), in a wait that has ended since.  Does
 * nothing if that was not its last one.
 */
void wall_thread_take_state(struct wall_thread *thread, const struct wall_rows *rows,
			    uint8_t state, uint64_t gap_ns, uint64_t met_ns);
/*
 * Called when all its switches up to now have been taken.  sched: schedstat, or NULL.  Only
 * schedstat has the time that a thread queued for a CPU at the end of its waits; and the
 * switches themselves, some 10 us each, are CPU time there and part of the wait in the records.
 * Each ended wait gives its part of both.  False: schedstat has switches that have not
 * been taken yet; settle at the next tick again.
 */
bool wall_thread_settle(struct wall_thread *thread, const struct wall_rows *rows,
			const struct wall_sched *sched);
/* Puts what it has waited so far into a row, if that is worth one. */
void wall_thread_book(struct wall_thread *thread, const struct wall_rows *rows,
		      uint64_t now_ns);
/* Limits the time of a sample to how long the thread has run without a sample. */
uint64_t wall_thread_claim(struct wall_thread *thread, uint64_t ns, uint64_t now_ns);
/* The thread has ended, or is not followed any more. */
void wall_thread_end(struct wall_thread *thread, const struct wall_rows *rows,
		     uint64_t time_ns);
/* Writes rows for the rest of its life, once all of its samples have come. */
void wall_thread_close(struct wall_thread *thread, const struct wall_rows *rows);

/* From now on its switches are not reported; sched: schedstat at this moment. */
void wall_thread_begin_coarse(struct wall_thread *thread, const struct wall_rows *rows,
			      const struct wall_sched *sched, uint64_t now_ns);
/*
 * At a tick, if coarse, if it was its turn to be read: schedstat, and what was read of its wait;
 * NULL: it does not wait.  The read may be the previous one if it was not switched since.
 */
void wall_thread_look(struct wall_thread *thread, const struct wall_rows *rows,
		      const struct wall_sched *sched, const struct wall_read *read,
		      uint64_t now_ns);
/* Likewise if it was not its turn, or there was no time for it. */
void wall_thread_pass(struct wall_thread *thread, const struct wall_sched *sched,
		      uint64_t now_ns);
