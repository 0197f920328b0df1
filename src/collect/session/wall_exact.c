/*
 * session_wall_exact - a tick of the wall clock where each switch is reported.
 *
 * Threads that wait are read in turn, each between two looks at its switches, so that what was read
 * is known to be of one wait.
 */
#include "collect/session/wall.h"

#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/session/owners.h"
#include "collect/session/state.h"
#include "collect/session/wall_internal.h"

/* Whether the thread has been in its present wait since then at the latest. */
static bool waits_since(const struct wall_thread *thread, uint64_t time_ns)
{
	return thread->place == WALL_WAITS && thread->since_ns <= time_ns &&
	       thread->end_ns == UINT64_MAX;
}

/*
 * Reads it, then takes its switches: they show in which wait it was read, which may be a later one
 * than it was listed for, and whether it still was in it at the end.
 */
static void read_exact(struct session *session, struct image *image, struct wall_thread *thread,
		       uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	const uint32_t row = thread->row;
	struct wall_read read;
	const enum wall_reading reading =
		wall_reader_read(&wall->reader, image, thread, now_ns, &read);
	const uint64_t met_ns = wall->reader.met_ns;

	wall->reads++;
	session_take_events(session);
	thread = wall_find(&wall->threads, row);
	if (reading == WALL_READ_NOTHING || thread == NULL)
		return;
	const bool is_whole = reading == WALL_READ_STACK && waits_since(thread, met_ns);

	wall->torn += !is_whole;
	if (!is_whole) {
		if (!waits_since(thread, met_ns))
			wall_thread_take_state(thread, &wall->threads.rows, read.state,
					       wall->gap_ns, met_ns);
		return;
	}
	/* If its last read was provisional, the distance of ticks stays that of the first one. */
	if (thread->is_read)
		thread->read = read;
	else
		wall_thread_take_read(thread, &read, wall->gap_ns);
	session_owners_take(session, image, thread, thread->serial);
}

static bool is_to_be_read(const struct wall_thread *thread)
{
	return thread->place == WALL_WAITS && (!thread->is_read || thread->read.is_provisional);
}

static void read_listed(struct session *session, uint32_t row, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	struct wall_thread *thread = wall_find(&wall->threads, row);

	if (thread == NULL)
		return;
	struct image *image = tree_find(&session->tree, thread->pid);

	thread->is_listed = false;
	if (!is_to_be_read(thread) || thread->end_ns != UINT64_MAX || image == NULL)
		return;
	read_exact(session, image, thread, now_ns);
	thread = wall_find(&wall->threads, row);
	if (thread != NULL && is_to_be_read(thread))
		session_wall_list(wall, thread);
}

void session_wall_settle(struct session *session)
{
	struct session_wall *wall = &session->wall;
	size_t left = 0;

	for (size_t i = 0; i < wall->touched_count; i++) {
		struct wall_thread *thread = wall_find(&wall->threads, wall->touched[i]);
		struct wall_sched sched;

		if (thread == NULL)
			continue;
		const bool is_there = thread->end_ns == UINT64_MAX &&
				      session_wall_read_sched(wall, thread, &sched);

		if (!wall_thread_settle(thread, &wall->threads.rows, is_there ? &sched : NULL))
			wall->touched[left++] = wall->touched[i];
	}
	wall->touched_count = left;
}

/*
 * One pass over the threads that are to be read may take several ticks: gap_ns is the time
 * between a thread's chances to be read.
 */
static void begin_pass(struct session_wall *wall, uint64_t now_ns)
{
	wall->gap_ns = now_ns - wall->pass_ns;
	wall->pass_ns = now_ns;
}

/*
 * Takes the next thread of this pass off the list; 0: all have had their turn.  Turns are in
 * the order of rows: in the order in which waits began, a thread's turn would depend on what it
 * waits for, and some waits would be read more often than others.
 */
static uint32_t take_next(struct session_wall *wall)
{
	uint32_t *next = NULL;

	for (size_t i = 0; i < wall->listed_count; i++) {
		if (wall->listed[i] > wall->cursor && (!next || wall->listed[i] < *next))
			next = &wall->listed[i];
	}
	wall->cursor = next ? *next : 0;
	if (next)
		*next = wall->listed[--wall->listed_count];
	return wall->cursor;
}

void session_wall_tick_exact(struct session *session)
{
	struct session_wall *wall = &session->wall;
	const uint64_t began_ns = monotonic_ns();
	const uint64_t until_ns = began_ns + wall->tick_ns / READS_PART;

	session_take_events(session);
	session_wall_settle(session);
	if (wall->cursor == 0)
		begin_pass(wall, began_ns);
	do {
		const uint32_t row = take_next(wall);

		if (row == 0)
			break;
		read_listed(session, row, began_ns);
	} while (monotonic_ns() < until_ns);
}
