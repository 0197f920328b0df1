#include "collect/session/owners.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/session/owner_stack.h"
#include "collect/session/state.h"
#include "collect/session/wall_internal.h"
#include "record/writer.h"

/* Reading owners takes at most this part of a tick. */
#define LOOKS_PART 4

/*
 * Writes what holds from time_ns on: a wait's owner, which may be unknown, or, without a stack,
 * its end.  Ticks are not equally far apart: a wait's first mark may be due a little before the
 * last of the previous wait.
 */
static void write_mark(struct session *session, struct wall_owned_wait *owned,
		       const struct recording_owner *mark, uint64_t time_ns)
{
	if (!recording_writer_has_room(session->writer))
		return;
	if (time_ns <= owned->marked_ns)
		time_ns = owned->marked_ns + 1;
	if (time_ns < session->start_ns)
		time_ns = session->start_ns;
	owned->marked_ns = time_ns;
	owned->marked = *mark;
	owned->marked.time_ns = (int64_t)(time_ns - session->start_ns);
	recording_writer_add_owner(session->writer, &owned->marked);
}

/*
 * The owner is read before the stack it waits in; in between it may have released the lock and
 * gone to wait for something else.
 */
static bool owns_still(struct session *session, struct image *image,
		       const struct wall_owned_wait *owned, pid_t inner_owner)
{
	/* The answer for a Python lock is kept for a tick: asking again would say the same. */
	return owned->wait.on == WAIT_ON_PYTHON_LOCK ||
	       wall_reader_owner(&session->wall.reader, image, owned,
				 session->wall.owners.tick_ns, 0) == inner_owner;
}

/* Of a lock that processes share. */
static const struct image_thread *find_elsewhere(const struct tree *tree, pid_t tid,
						 struct image **out_image)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct image_thread *known = image_find_thread(tree->images[i], tid);

		if (known == NULL || known->end_ns != UINT64_MAX)
			continue;
		*out_image = tree->images[i];
		return known;
	}
	return NULL;
}

/* *out_image: the thread's, if there is one; its number is as the waiting thread's process has it. */
static const struct image_thread *find_owner(const struct session *session,
					     const struct wall_thread *waiting,
					     const struct wall_owned_wait *owned,
					     pid_t inner_owner, struct image **out_image)
{
	const bool may_be_shared =
		owned->wait.on == WAIT_ON_MUTEX || owned->wait.on == WAIT_ON_RWLOCK;
	const struct image_thread *known;

	if (inner_owner <= 0)
		return NULL;
	known = wall_find_inner(&session->wall.threads, *out_image, waiting, inner_owner);
	if (known != NULL || !may_be_shared || waiting->inner_tid != waiting->tid)
		return known;
	return find_elsewhere(&session->tree, inner_owner, out_image);
}

/*
 * Writes the owner if it has changed.  If it is unknown, the last one stays; but for a Python
 * lock, whose holder was looked for among all threads, it is written that there is none.
 */
static void write_owner(struct session *session, struct image *image,
			const struct wall_thread *thread, struct wall_owned_wait *owned,
			pid_t inner_owner, uint64_t time_ns)
{
	const uint64_t now_ns = session->wall.owners.tick_ns;
	struct image *its_image = image;
	const struct image_thread *known =
		find_owner(session, thread, owned, inner_owner, &its_image);
	const uint32_t owner = known != NULL && known->row != thread->row ? known->row : 0;
	struct recording_owner mark = {
		.thread = owned->thread,
		.owner = owner,
		.stack = owned->stack,
		.owner_stack = owned->wait.on == WAIT_ON_THREAD
				       ? 0
				       : session_owner_stack(session, its_image, owner, now_ns),
	};

	if (owner == 0 && (owned->wait.on != WAIT_ON_PYTHON_LOCK || inner_owner < 0))
		return;
	if (mark.owner_stack != 0 && !owns_still(session, image, owned, inner_owner))
		mark.owner_stack = 0;
	if (mark.owner != owned->marked.owner || mark.stack != owned->marked.stack ||
	    mark.owner_stack != owned->marked.owner_stack)
		write_mark(session, owned, &mark, time_ns);
}

static uint64_t middle(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? from_ns + (to_ns - from_ns) / 2 : from_ns;
}

/* The wait was found to be over: it ended in the middle between the two looks. */
static void end_wait(struct session *session, struct wall_owned_wait *owned)
{
	if (!owned->is_over && owned->marked.stack != 0)
		write_mark(session, owned, &(struct recording_owner){ .thread = owned->thread },
			   middle(owned->looked_ns, session->wall.owners.tick_ns));
	owned->is_over = true;
}

/*
 * The owner was found that holds since the middle between the two looks.  Of a new wait: at the
 * tick before it had not begun.
 */
static void take_owner(struct session *session, struct image *image,
		       const struct wall_thread *thread, struct wall_owned_wait *owned,
		       pid_t inner_owner, bool is_same)
{
	const struct wall_owners *owners = &session->wall.owners;

	if (!is_same) {
		end_wait(session, owned);
		owned->is_over = false;
		owned->looked_ns = owners->last_ns;
	}
	write_owner(session, image, thread, owned, inner_owner,
		    middle(owned->looked_ns, owners->tick_ns));
	owned->looked_ns = owners->tick_ns;
}

static struct wall_owned_wait *wait_of(struct wall_owners *owners, uint32_t thread)
{
	uint64_t *number = table_at(&owners->by_thread, 0, thread, NULL);

	if (*number == 0) {
		owners->waits = array_grow(owners->waits, owners->count, &owners->capacity,
					   sizeof *owners->waits);
		owners->waits[owners->count] =
			(struct wall_owned_wait){ .thread = thread, .is_over = true };
		*number = ++owners->count;
	}
	return &owners->waits[*number - 1];
}

static bool goes_on(const struct wall_thread *thread, const struct wall_owned_wait *owned)
{
	if (owned->is_over)
		return false;
	if (thread->is_coarse)
		return thread->is_read && thread->sched.slices == owned->serial;
	return thread->serial == owned->serial && thread->place == WALL_WAITS;
}

/*
 * A thread whose turn to be read has not come is looked at as well if it waits for the same
 * thing as before: otherwise owners early in its waits would be found too rarely.
 */
static bool waits_again(struct session *session, const struct image *image,
			const struct wall_thread *thread, const struct wall_owned_wait *owned)
{
	return !thread->is_coarse && thread->place == WALL_WAITS && !thread->is_read &&
	       wall_reader_waits_in(&session->wall.reader, image, thread, owned);
}

/* Reads the owner, if the thread is in that wait or in another for the same thing. */
static void look(struct session *session, const struct wall_thread *thread,
		 struct wall_owned_wait *owned, uint64_t until_ns)
{
	struct image *image = tree_find(&session->tree, thread->pid);
	const bool is_on = goes_on(thread, owned);

	/* A wait for the end of a thread does not change its owner. */
	if (is_on && owned->wait.on == WAIT_ON_THREAD && owned->marked.owner != 0) {
		owned->look = WALL_LOOK_DONE;
		owned->looked_ns = session->wall.owners.tick_ns;
		return;
	}
	owned->look = WALL_LOOK_NOTHING;
	if (image == NULL || (!is_on && !waits_again(session, image, thread, owned)))
		return;
	owned->look = WALL_LOOK_OWNER;
	owned->met_serial = is_on ? owned->serial : thread->serial;
	owned->met_owner = wall_reader_owner(&session->wall.reader, image, owned,
					     session->wall.owners.tick_ns, until_ns);
}

/* Writes what this tick's look has found. */
static void take_look(struct session *session, const struct wall_thread *thread,
		      struct wall_owned_wait *owned)
{
	struct image *image = tree_find(&session->tree, thread->pid);
	const enum wall_look found = owned->look;

	owned->look = WALL_LOOK_DONE;
	if (found == WALL_LOOK_NOTHING)
		end_wait(session, owned);
	if (found != WALL_LOOK_OWNER || image == NULL)
		return;
	const bool is_same = !owned->is_over && owned->serial == owned->met_serial;

	take_owner(session, image, thread, owned, owned->met_owner, is_same);
	owned->serial = owned->met_serial;
}

/* NULL: it has ended, maybe while events were taken. */
static const struct wall_thread *thread_of(struct session *session,
					   const struct wall_owned_wait *owned)
{
	const struct wall_thread *thread = wall_find(&session->wall.threads, owned->thread);

	return thread != NULL && thread->end_ns == UINT64_MAX ? thread : NULL;
}

/* Whether this tick's look has written the owner of this wait already. */
static bool is_written(const struct wall_owners *owners, const struct wall_owned_wait *owned,
		       uint64_t serial)
{
	return owned->look == WALL_LOOK_DONE && !owned->is_over && owned->serial == serial &&
	       owned->looked_ns == owners->tick_ns;
}

/* The look took the wait for one in the stack of the last; now it was read. */
static void correct_stack(struct session *session, struct wall_owned_wait *owned)
{
	struct recording_owner mark = owned->marked;

	mark.stack = owned->stack;
	if (owned->marked.stack != 0 && owned->marked.stack != mark.stack)
		write_mark(session, owned, &mark, session->wall.owners.tick_ns);
}

/* Whether the wait began after this tick's looks. */
static bool is_later(const struct session *session, const struct wall_thread *thread)
{
	return !thread->is_coarse && thread->since_ns > session->wall.owners.tick_ns;
}

void session_owners_take(struct session *session, struct image *image,
			 const struct wall_thread *thread, uint64_t serial)
{
	const struct wall_owners *owners = &session->wall.owners;
	const struct wall_reader *reader = &session->wall.reader;
	/* To write what was found before may read an owner's stack, and its wait with that. */
	const struct wait wait = reader->wait;
	const struct walk_states states = reader->states;
	const uint64_t futex = reader->futex;
	const uint32_t stack = thread->read.stack;
	struct wall_owned_wait *owned;
	pid_t owner = wait.inner_owner;

	if (wait.on == WAIT_ON_NOTHING)
		return;
	owned = wait_of(&session->wall.owners, thread->row);
	const bool is_met = owned->look == WALL_LOOK_OWNER && owned->met_serial == serial;
	const bool is_done = is_written(owners, owned, serial);

	if (owned->look == WALL_LOOK_DUE && owned->serial != serial)
		owned->look = WALL_LOOK_NOTHING;
	if (!is_met)
		take_look(session, thread, owned);
	owned->futex = futex;
	owned->wait = wait;
	owned->states = states;
	owned->stack = stack;
	if (is_done)
		correct_stack(session, owned);
	thread = thread_of(session, owned);
	if (is_met || is_done || thread == NULL)
		return;
	const bool is_same = !owned->is_over && owned->serial == serial;

	owned->serial = serial;
	/* The next look is its first: what was found at this one stands until half-way to it. */
	if (!is_same && is_later(session, thread)) {
		owned->is_over = false;
		owned->looked_ns = owners->tick_ns;
		return;
	}
	if (wait.on == WAIT_ON_PYTHON_LOCK)
		owner = wall_reader_owner(&session->wall.reader, image, owned, owners->tick_ns,
					  monotonic_ns() + session->wall.tick_ns / LOOKS_PART);
	take_owner(session, image, thread, owned, owner, is_same);
}

/* Each tick begins with another one, as there may be no time for all. */
static struct wall_owned_wait *in_turn(const struct wall_owners *owners, size_t number)
{
	return &owners->waits[(owners->first + number) % owners->count];
}

/* Looks at waits for Python's locks, or at all others, where switches are reported. */
static void look_at(struct session *session, bool is_of_python, uint64_t until_ns)
{
	struct wall_owners *owners = &session->wall.owners;

	for (size_t i = 0; i < owners->count && monotonic_ns() < until_ns; i++) {
		struct wall_owned_wait *owned = in_turn(owners, i);
		const struct wall_thread *thread = thread_of(session, owned);

		if (thread == NULL || thread->is_coarse ||
		    (owned->wait.on == WAIT_ON_PYTHON_LOCK) != is_of_python)
			continue;
		look(session, thread, owned, until_ns);
		if (is_of_python)
			take_look(session, thread, owned);
	}
}

/*
 * The holder of a Python lock is looked for among all threads, which takes time: such locks come
 * last, and where the holder waits is read directly afterwards.
 */
void session_owners_look(struct session *session)
{
	struct wall_owners *owners = &session->wall.owners;

	session_take_events(session);
	owners->last_ns = owners->tick_ns;
	owners->tick_ns = monotonic_ns();
	const uint64_t until_ns = owners->tick_ns + session->wall.tick_ns / LOOKS_PART;

	owners->first = owners->count > 0 ? (owners->first + 1) % owners->count : 0;
	for (size_t i = 0; i < owners->count; i++)
		owners->waits[i].look = WALL_LOOK_DUE;
	look_at(session, false, until_ns);
	look_at(session, true, until_ns);
}

static void drop(struct session *session, struct wall_owned_wait *owned)
{
	struct wall_owners *owners = &session->wall.owners;
	const size_t number = (size_t)(owned - owners->waits) + 1;

	end_wait(session, owned);
	table_remove(&owners->by_thread, 0, owned->thread);
	if (number < owners->count) {
		*owned = owners->waits[owners->count - 1];
		*table_at(&owners->by_thread, 0, owned->thread, NULL) = number;
	}
	owners->count--;
}

void session_owners_tick(struct session *session)
{
	struct wall_owners *owners = &session->wall.owners;
	const uint64_t until_ns = monotonic_ns() + session->wall.tick_ns / LOOKS_PART;

	session_take_events(session);
	if (owners->next >= owners->count)
		owners->next = 0;
	while (owners->next < owners->count && monotonic_ns() < until_ns) {
		struct wall_owned_wait *owned = &owners->waits[owners->next];
		const struct wall_thread *thread = thread_of(session, owned);

		if (thread == NULL) {
			drop(session, owned);
			continue;
		}
		if (owned->look == WALL_LOOK_DUE)
			look(session, thread, owned, until_ns);
		take_look(session, thread, owned);
		owners->next++;
	}
}

void session_owners_close(struct session *session)
{
	free(session->wall.owners.waits);
	table_done(&session->wall.owners.by_thread);
	session->wall.owners = (struct wall_owners){ 0 };
}
