/*
 * Rows of a thread's waits: each long wait has its own, short ones are divided by those that
 * were read.
 */
#include "collect/wall/thread_internal.h"

#include <stddef.h>

#include "abi/walk_status.h"
#include "collect/wall/thread.h"

void wall_thread_add_row(const struct wall_thread *thread, const struct wall_rows *rows,
			 enum wall_row_kind kind, uint8_t state, uint64_t ns, uint64_t time_ns)
{
	if (ns > 0)
		rows->add(rows->context, &(struct wall_row){ .kind = kind,
							     .state = state,
							     .ending = WALK_NO_SAMPLE,
							     .thread = thread->row,
							     .time_ns = time_ns,
							     .ns = ns });
}

void wall_thread_add_read(const struct wall_thread *thread, const struct wall_rows *rows,
			  const struct wall_read *read, uint64_t ns, uint64_t time_ns)
{
	if (!read->has_stack)
		wall_thread_add_row(thread, rows, WALL_ROW_SHORT, read->state, ns, time_ns);
	else if (ns > 0)
		rows->add(rows->context, &(struct wall_row){ .kind = WALL_ROW_STACK,
							     .state = read->state,
							     .ending = read->ending,
							     .thread = thread->row,
							     .stack = read->stack,
							     .time_ns = time_ns,
							     .ns = ns });
}

void wall_thread_book_ended(struct wall_thread *thread, const struct wall_rows *rows)
{
	for (uint32_t i = 0; i < thread->ended_count; i++)
		wall_thread_add_read(thread, rows, &thread->ended[i].read, thread->ended[i].ns,
				     thread->ended[i].end_ns);
	thread->ended_count = 0;
}

static bool is_same(const struct wall_read *a, const struct wall_read *b)
{
	return a->has_stack == b->has_stack && a->state == b->state && a->stack == b->stack &&
	       a->ending == b->ending;
}

void wall_thread_add_credit(struct wall_thread *thread, const struct wall_read *read,
			    uint64_t ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < thread->credit_count; i++) {
		if (is_same(&thread->credits[i].read, read)) {
			thread->credits[i].ns += ns;
			thread->credits[i].end_ns = end_ns;
			return;
		}
	}
	if (thread->credit_count < WALL_CREDITS)
		thread->credits[thread->credit_count++] =
			(struct wall_credit){ .read = *read, .ns = ns, .end_ns = end_ns };
}

void wall_thread_grant(struct wall_thread *thread, const struct wall_rows *rows)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < thread->credit_count; i++) {
		struct wall_credit *credit = &thread->credits[i];
		const uint64_t ns = at_most(credit->ns, thread->short_ns);

		wall_thread_add_read(thread, rows, &credit->read, ns, credit->end_ns);
		thread->by_state[credit->read.state % WAIT_STATE_COUNT] += ns;
		thread->short_ns -= ns;
		credit->ns -= ns;
		if (credit->ns > 0)
			thread->credits[left++] = *credit;
	}
	thread->credit_count = left;
}

uint64_t wall_thread_sum_by_state(const struct wall_thread *thread)
{
	uint64_t sum = 0;

	for (int i = 0; i < WAIT_STATE_COUNT; i++)
		sum += thread->by_state[i];
	return sum;
}

void wall_thread_book_short(struct wall_thread *thread, const struct wall_rows *rows,
			    uint64_t ns, uint64_t time_ns)
{
	const uint64_t met_ns = wall_thread_sum_by_state(thread);
	uint64_t left_ns = ns;

	thread->short_ns -= ns;
	for (uint8_t i = 0; i < WAIT_STATE_COUNT && met_ns > 0; i++) {
		const uint64_t part_ns =
			(uint64_t)((double)ns * (double)thread->by_state[i] / (double)met_ns);

		wall_thread_add_row(thread, rows, WALL_ROW_SHORT, i, at_most(part_ns, left_ns),
				    time_ns);
		left_ns -= at_most(part_ns, left_ns);
	}
	wall_thread_add_row(thread, rows, WALL_ROW_SHORT, WAIT_STATE_SYSCALL, left_ns, time_ns);
}
