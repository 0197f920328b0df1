/*
 * thread_internal - what thread.c (a thread's time), thread_waits.c (waits that ended),
 * thread_delays.c (what these give) and thread_rows.c (rows of waits) share.
 */
#pragma once
#include <stdint.h>

#include "collect/wall/row.h"

struct wall_thread;

static inline uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Adds a row of the thread's time in a state, without a stack; none for 0 ns. */
void wall_thread_add_row(const struct wall_thread *thread, const struct wall_rows *rows,
			 enum wall_row_kind kind, uint8_t state, uint64_t ns, uint64_t time_ns);
/* The same for a wait that was read, with its stack if it has one. */
void wall_thread_add_read(const struct wall_thread *thread, const struct wall_rows *rows,
			  const struct wall_read *read, uint64_t ns, uint64_t time_ns);
/* Which of shorts a wait of this length belongs to. */
uint8_t wall_thread_length_of(uint64_t ns);
/*
 * Notes that a short wait that was read is to get ns of the time of all short waits of its
 * length.  If there is no room, it remains among the waits without a stack.
 */
void wall_thread_add_credit(struct wall_thread *thread, const struct wall_read *read,
			    uint8_t length, uint64_t ns, uint64_t end_ns);
/* Gives short waits that were read their time, as far as there is any, in proportion. */
void wall_thread_grant(struct wall_thread *thread, const struct wall_rows *rows);
/* Adds what was read of the thread's short waits to its kind: it has ended. */
void wall_thread_add_to_kind(const struct wall_thread *thread);
/*
 * Adds rows for short waits that were not read: without stacks, in the states of those of that
 * length that were read, in their proportion.  Of each length keep_ns are left for later reads;
 * 0: none, since the thread has ended.
 */
void wall_thread_book_short(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t keep_ns, uint64_t time_ns);

/* Adds rows for time at the beginning of waits, by how many waits of each state were read. */
void wall_thread_book_begins(const struct wall_thread *thread, const struct wall_rows *rows,
			     uint64_t ns, uint64_t time_ns);

/* The wait since since_ns has ended: the part that is in no row yet is kept for one. */
void wall_thread_end_wait(struct wall_thread *thread, const struct wall_rows *rows,
			  uint64_t time_ns);
/* The wait that ended last was read, but for its stack. */
void wall_thread_read_last(struct wall_thread *thread, const struct wall_rows *rows,
			   const struct wall_read *read, uint64_t gap_ns);
/*
 * Takes the time of switches, the same from each wait that ended, and then the time that the
 * thread was runnable after them: first from those of unusual lengths, and from each by how long
 * it was so after others of its state. Returns how much the waits had of the sum.
 */
uint64_t wall_thread_take(struct wall_thread *thread, uint64_t running_ns, uint64_t queued_ns);
/* Adds rows for waits that ended since the thread was settled, or puts them to the short ones. */
void wall_thread_book_ended(struct wall_thread *thread, const struct wall_rows *rows);
