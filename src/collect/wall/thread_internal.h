/* What a thread's places (thread.c) and their rows (thread_rows.c) share. */
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

/* A row of the thread's time in a state, without a stack; none of 0 ns. */
void wall_thread_add_row(const struct wall_thread *thread, const struct wall_rows *rows,
			 enum wall_row_kind kind, uint8_t state, uint64_t ns, uint64_t time_ns);
/* The same of a wait that was read, with its stack if it has one. */
void wall_thread_add_read(const struct wall_thread *thread, const struct wall_rows *rows,
			  const struct wall_read *read, uint64_t ns, uint64_t time_ns);
/* The long wait that ended last, as far as it is in no row. */
void wall_thread_book_ended(struct wall_thread *thread, const struct wall_rows *rows);
/*
 * A short wait that was read has a part of the time that such waits took together.  Where there is
 * no room for it, the state without its stack will do.
 */
void wall_thread_add_credit(struct wall_thread *thread, const struct wall_read *read,
			    uint64_t ns, uint64_t end_ns);
/* Short waits that were read get their time, as far as there is any. */
void wall_thread_grant(struct wall_thread *thread, const struct wall_rows *rows);
/* What short waits that were read have got, of all states. */
uint64_t wall_thread_sum_by_state(const struct wall_thread *thread);
/*
 * Short waits that nothing was met of: in the states that those had that were, in that proportion;
 * no stack is claimed.
 */
void wall_thread_book_short(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t ns, uint64_t time_ns);
