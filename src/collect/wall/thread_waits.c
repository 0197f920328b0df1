/* Waits of a thread that ended: which of them were long enough for a row of their own. */
#include "collect/wall/thread_internal.h"

#include <stdbool.h>
#include <stddef.h>

#include "collect/wall/thread.h"

static void add_unread(struct wall_thread *thread, uint64_t ns)
{
	struct wall_sum *unread = &thread->unread[wall_thread_length_of(ns)];

	if (thread->unread_count < WALL_UNREAD) {
		thread->unread_ns[thread->unread_count++] = ns;
		return;
	}
	unread->ns += ns;
	unread->count++;
}

/* Takes back the last one that was added.  False: it has been settled since. */
static bool take_unread(struct wall_thread *thread, uint64_t ns)
{
	struct wall_sum *unread = &thread->unread[wall_thread_length_of(ns)];

	if (unread->count > 0 && unread->ns >= ns) {
		unread->ns -= ns;
		unread->count--;
		return true;
	}
	if (thread->unread_count == 0 || thread->unread_ns[thread->unread_count - 1] != ns)
		return false;
	thread->unread_count--;
	return true;
}

void wall_thread_end_wait(struct wall_thread *thread, const struct wall_rows *rows,
			  uint64_t time_ns)
{
	const uint64_t ns = above(time_ns, thread->booked_ns);

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
		add_unread(thread, ns);
		thread->last_unread_ns = ns;
		thread->last_end_ns = time_ns;
	}
	thread->is_read = false;
}

void wall_thread_read_last(struct wall_thread *thread, const struct wall_rows *rows,
			   const struct wall_read *read, uint64_t gap_ns)
{
	const uint64_t ns = thread->last_unread_ns;

	if (ns == 0 || !take_unread(thread, ns))
		return;
	thread->last_unread_ns = 0;
	if (thread->ended_count == WALL_ENDED)
		wall_thread_book_ended(thread, rows);
	thread->ended[thread->ended_count++] = (struct wall_ended){
		.read = *read, .ns = ns, .end_ns = thread->last_end_ns, .gap_ns = gap_ns
	};
}

/* A wait shorter than a tick was found with the chance of its length: it stands for the tick. */
static void book_one(struct wall_thread *thread, const struct wall_rows *rows,
		     const struct wall_ended *ended)
{
	const uint8_t length = wall_thread_length_of(ended->ns);
	const bool is_long = ended->ns >= ended->gap_ns;

	if (is_long && ended->read.has_stack) {
		wall_thread_add_read(thread, rows, &ended->read, ended->ns, ended->end_ns);
		/* What no tick met of this length is as likely of this state. */
		thread->shorts[length].by_state[ended->read.state % WAIT_STATE_COUNT] +=
			ended->ns;
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
	for (uint32_t i = 0; i < thread->unread_count; i++)
		thread->shorts[wall_thread_length_of(thread->unread_ns[i])].ns +=
			thread->unread_ns[i];
	for (int i = 0; i < WALL_LENGTHS; i++) {
		struct wall_sum *unread = &thread->unread[i];

		if (unread->count > 0)
			thread->shorts[wall_thread_length_of(unread->ns / unread->count)].ns +=
				unread->ns;
		*unread = (struct wall_sum){ 0 };
	}
	thread->ended_count = 0;
	thread->unread_count = 0;
	thread->last_unread_ns = 0;
}
