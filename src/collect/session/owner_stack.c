#include "collect/session/owner_stack.h"

#include "collect/processes/image.h"
#include "collect/session/state.h"
#include "collect/session/wall_internal.h"

/* Added to schedstat's count of switches: no number of a switch that was reported. */
#define COARSE_REST (1ULL << 63)

/*
 * Reads an owner's stack if its present wait has not been read.  It is no sample: the thread is
 * read because of what it holds, not because it was its turn.
 */
static uint32_t read_owner(struct session *session, struct image *image,
			   struct wall_thread *thread, uint64_t now_ns)
{
	struct wall_read read;

	return wall_reader_read(&session->wall.reader, image, thread, now_ns, &read) ==
			       WALL_READ_STACK
		       ? read.stack
		       : 0;
}

/*
 * The stack of a thread that seems to wait; it is read now if it was not yet.  rest differs for
 * each of its waits; is_read: its last read is of this one.
 */
static uint32_t stack_now(struct session *session, struct image *image,
			  struct wall_thread *thread, uint64_t rest, bool is_read,
			  uint64_t now_ns)
{
	const uint32_t woken = wall_reader_woken(&session->wall.reader, image, thread,
						 is_read ? thread->read.callers : 0, now_ns);

	if (woken != 0 || is_read)
		return woken != 0 ? woken : thread->read.stack;
	if (thread->owner_serial != rest) {
		const uint32_t stack = read_owner(session, image, thread, now_ns);

		if (stack == 0)
			return 0;
		thread->owner_stack = stack;
		thread->owner_serial = rest;
	}
	return thread->owner_stack;
}

/* Without reports of switches, schedstat shows whether it has run meanwhile. */
static uint32_t coarse_stack_of(struct session *session, struct image *image,
				struct wall_thread *thread, uint64_t now_ns)
{
	struct wall_sched before, after;

	if (!session_wall_read_sched(&session->wall, thread, &before))
		return 0;
	const bool is_read = thread->is_read && thread->read.has_stack &&
			     before.slices == thread->sched.slices;
	const uint32_t stack =
		stack_now(session, image, thread, COARSE_REST | before.slices, is_read, now_ns);

	return session_wall_read_sched(&session->wall, thread, &after) &&
			       after.slices == before.slices
		       ? stack
		       : 0;
}

/*
 * The owner was read after the switches were taken: it may have been woken since, and have taken
 * what it waited for, so its switches are taken again.
 */
uint32_t session_owner_stack(struct session *session, struct image *image, uint32_t owner,
			     uint64_t now_ns)
{
	struct wall *threads = &session->wall.threads;
	struct wall_thread *thread = owner != 0 ? wall_find(threads, owner) : NULL;

	if (thread == NULL || thread->end_ns != UINT64_MAX)
		return 0;
	if (thread->is_coarse)
		return coarse_stack_of(session, image, thread, now_ns);
	if (thread->place != WALL_WAITS)
		return 0;
	const uint64_t serial = thread->serial;
	const uint32_t stack = stack_now(session, image, thread, serial + 1,
					 thread->is_read && thread->read.has_stack, now_ns);

	session_take_events(session);
	thread = wall_find(threads, owner);
	if (thread == NULL || thread->serial != serial || thread->place != WALL_WAITS)
		return 0;
	return stack;
}
