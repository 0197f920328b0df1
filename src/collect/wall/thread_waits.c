/*
 * Waits of a thread that ended: how long it was runnable after each, and which of them were
 * long enough for a row of their own.
 */
#include "collect/wall/thread_internal.h"

#include <stdbool.h>
#include <stddef.h>

#include "collect/wall/thread.h"

/* Waits that give part of their time: one that was read, or some of a length that were not. */
struct giver {
	uint64_t *ns, count;
	uint8_t state;
};
#define GIVERS (WALL_ENDED + WALL_LENGTHS)

void wall_thread_end_wait(struct wall_thread *thread, const struct wall_rows *rows,
			  uint64_t time_ns)
{
	const uint64_t ns = above(time_ns, thread->booked_ns);
	struct wall_sum *unread = &thread->unread[wall_thread_length_of(ns)];

	thread->wakeups++;
	thread->last_unread_ns = 0;
	if (thread->is_read) {
		if (thread->ended_count == WALL_ENDED)
			wall_thread_book_ended(thread, rows);
		thread->ended[thread->ended_count++] = (struct wall_ended){
			.read = thread->read,
			.ns = ns,
			.end_ns = time_ns,
			.gap_ns = thread->booked_ns == thread->since_ns ? thread->gap_ns : 0,
		};
	} else {
		unread->ns += ns;
		unread->count++;
		thread->last_unread_ns = ns;
	}
	thread->is_read = false;
}

void wall_thread_read_last(struct wall_thread *thread, const struct wall_rows *rows,
			   const struct wall_read *read, uint64_t gap_ns)
{
	const uint64_t ns = thread->last_unread_ns;
	struct wall_sum *unread = &thread->unread[wall_thread_length_of(ns)];

	/* It has been settled since. */
	if (ns == 0 || unread->ns < ns || unread->count == 0)
		return;
	unread->ns -= ns;
	unread->count--;
	thread->last_unread_ns = 0;
	if (thread->ended_count == WALL_ENDED)
		wall_thread_book_ended(thread, rows);
	thread->ended[thread->ended_count++] = (struct wall_ended){
		.read = *read, .ns = ns, .end_ns = thread->since_ns, .gap_ns = gap_ns
	};
}

static size_t list_givers(struct wall_thread *thread, struct giver *givers)
{
	size_t count = 0;

	for (uint32_t i = 0; i < thread->ended_count; i++)
		givers[count++] =
			(struct giver){ &thread->ended[i].ns, 1, thread->ended[i].read.state };
	for (int i = 0; i < WALL_LENGTHS; i++) {
		if (thread->unread[i].count > 0)
			givers[count++] =
				(struct giver){ &thread->unread[i].ns, thread->unread[i].count,
						WAIT_STATE_RUNNING };
	}
	return count;
}

/* What is expected of one wait: 1, or how long the thread was runnable after such ones. */
static double expected(const struct wall_thread *thread, uint8_t state, bool is_queued)
{
	const struct wall_sum *sum = &thread->delays[state % WAIT_STATE_COUNT];
	uint64_t all_ns = 0, all = 0;

	if (!is_queued)
		return 1;
	if (sum->count > 0)
		return 1 + (double)sum->ns / (double)sum->count;
	for (int i = 0; i < WAIT_STATE_COUNT; i++) {
		all_ns += thread->delays[i].ns;
		all += thread->delays[i].count;
	}
	return 1 + (all > 0 ? (double)all_ns / (double)all : 0);
}

static uint64_t take(struct wall_thread *thread, uint64_t ns, bool is_queued)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);
	double whole = 0;
	uint64_t left_ns = ns;

	for (size_t i = 0; i < count; i++)
		whole += (double)givers[i].count * expected(thread, givers[i].state, is_queued);
	for (size_t i = 0; i < count; i++) {
		const double part = (double)givers[i].count *
				    expected(thread, givers[i].state, is_queued) / whole;
		const uint64_t part_ns =
			at_most(at_most((uint64_t)((double)ns * part), left_ns), *givers[i].ns);

		*givers[i].ns -= part_ns;
		left_ns -= part_ns;
	}
	/* What a wait was too short for, others give, the last first. */
	for (size_t i = count; i-- > 0;) {
		const uint64_t part_ns = at_most(left_ns, *givers[i].ns);

		*givers[i].ns -= part_ns;
		left_ns -= part_ns;
	}
	for (int i = WALL_LENGTHS; i-- > 0;) {
		const uint64_t part_ns = at_most(left_ns, thread->shorts[i].ns);

		thread->shorts[i].ns -= part_ns;
		left_ns -= part_ns;
	}
	return ns - left_ns;
}

static void learn_delay(struct wall_thread *thread, uint64_t ns)
{
	const uint8_t state = thread->ended_count > 0 ? thread->ended[0].read.state
						      : (uint8_t)WAIT_STATE_RUNNING;
	struct wall_sum *sum = &thread->delays[state % WAIT_STATE_COUNT];

	if (thread->wakeups != 1)
		return;
	sum->ns += ns;
	sum->count++;
}

uint64_t wall_thread_take(struct wall_thread *thread, uint64_t running_ns, uint64_t queued_ns)
{
	learn_delay(thread, queued_ns);
	return take(thread, running_ns, false) + take(thread, queued_ns, true);
}

/* A wait shorter than a tick was found with the chance of its length: it stands for the tick. */
static void book_one(struct wall_thread *thread, const struct wall_rows *rows,
		     const struct wall_ended *ended)
{
	const uint8_t length = wall_thread_length_of(ended->ns);
	const bool is_long = ended->ns >= ended->gap_ns;

	if (is_long && ended->read.has_stack) {
		wall_thread_add_read(thread, rows, &ended->read, ended->ns, ended->end_ns);
		return;
	}
	thread->shorts[length].ns += ended->ns;
	wall_thread_add_credit(thread, &ended->read, length,
			       is_long ? ended->ns : ended->gap_ns, ended->end_ns);
}

void wall_thread_book_ended(struct wall_thread *thread, const struct wall_rows *rows)
{
	for (uint32_t i = 0; i < thread->ended_count; i++)
		book_one(thread, rows, &thread->ended[i]);
	for (int i = 0; i < WALL_LENGTHS; i++) {
		struct wall_sum *unread = &thread->unread[i];

		if (unread->count > 0)
			thread->shorts[wall_thread_length_of(unread->ns / unread->count)].ns +=
				unread->ns;
		*unread = (struct wall_sum){ 0 };
	}
	thread->ended_count = 0;
	thread->last_unread_ns = 0;
}
