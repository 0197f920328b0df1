/* thread_internal - what thread.c (a thread's time) and thread_rows.c (its rows) share. */
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
/* Adds rows for the long waits that ended since the thread was settled. */
void wall_thread_book_ended(struct wall_thread *thread, const struct wall_rows *rows);
/*
 * Notes that a short wait that was read is to get ns of the time of all short waits.  If there
 * is no room, it remains among the waits without a stack.
 */
void wall_thread_add_credit(struct wall_thread *thread, const struct wall_read *read,
			    uint64_t ns, uint64_t end_ns);
/* Gives short waits that were read their time, as far as there is any. */
void wall_thread_grant(struct wall_thread *thread, const struct wall_rows *rows);
/* The time that short waits that were read have got, over all states. */
uint64_t wall_thread_sum_by_state(const struct wall_thread *thread);
/*
 * Adds rows for short waits that were not read: without stacks, in the states of those that
 * were read, in their proportion.
 */
void wall_thread_book_short(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t ns, uint64_t time_ns);
