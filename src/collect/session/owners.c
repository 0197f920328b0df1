#include "collect/session/owners.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/session/state.h"
#include "record/writer.h"

/* Of a tick's time, looks take this part at most. */
#define LOOKS_PART 4

static const struct image_thread *owner_of(const struct session *session, struct image *image,
					   const struct wall_thread *thread, pid_t inner_owner)
{
	if (thread->inner_tid == thread->tid)
		return image_find_thread(image, inner_owner);
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct wall_thread *other =
			wall_find(&session->wall.threads, image->threads[i].row);

		if (other != NULL && other->inner_tid == inner_owner)
			return &image->threads[i];
	}
	return NULL;
}

/*
 * From then on the thread waits for that row's, or, with 0, for none that is known.  Looks are not
 * equally far apart: a wait's first mark may be due a little before the last of the wait before.
 */
static void write_mark(struct session *session, struct wall_owned_wait *owned, uint32_t owner,
		       uint64_t time_ns)
{
	if (!recording_writer_has_room(session->writer))
		return;
	if (time_ns <= owned->marked_ns)
		time_ns = owned->marked_ns + 1;
	if (time_ns < session->start_ns)
		time_ns = session->start_ns;
	owned->marked_ns = time_ns;
	recording_writer_add_owner(
		session->writer,
		&(struct recording_owner){ .time_ns = (int64_t)(time_ns - session->start_ns),
					   .thread = owned->thread,
					   .owner = owner });
}

/* The owner, which is written unless it is the one before; if it is not known that holds on. */
static void write_owner(struct session *session, struct image *image,
			const struct wall_thread *thread, struct wall_owned_wait *owned,
			pid_t inner_owner, uint64_t time_ns)
{
	const struct image_thread *owner =
		inner_owner > 0 ? owner_of(session, image, thread, inner_owner) : NULL;

	if (owner == NULL || owner->row == 0 || owner->row == thread->row ||
	    owner->row == owned->owner)
		return;
	write_mark(session, owned, owner->row, time_ns);
	owned->owner = owner->row;
}

static uint64_t middle(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? from_ns + (to_ns - from_ns) / 2 : from_ns;
}

/* It was found to be over: since the middle between the looks. */
static void end_wait(struct session *session, struct wall_owned_wait *owned, uint64_t now_ns)
{
	if (!owned->is_over && owned->owner != 0)
		write_mark(session, owned, 0, middle(owned->looked_ns, now_ns));
	owned->is_over = true;
}

/* The owner of now: since the middle between the looks. */
static void take_owner(struct session *session, struct image *image,
		       const struct wall_thread *thread, struct wall_owned_wait *owned,
		       pid_t inner_owner, uint64_t now_ns)
{
	write_owner(session, image, thread, owned, inner_owner,
		    middle(owned->looked_ns, now_ns));
	owned->looked_ns = now_ns;
}

/* Another wait of the thread was met, at that moment; its look before was at the tick before. */
static void begin_wait(struct session *session, struct image *image,
		       const struct wall_thread *thread, struct wall_owned_wait *owned,
		       pid_t inner_owner, uint64_t time_ns)
{
	const struct wall_owners *owners = &session->wall.owners;
	const uint64_t gap_ns = owners->gap_ns > 0 ? owners->gap_ns : session->wall.tick_ns;

	end_wait(session, owned, time_ns);
	owned->is_over = false;
	owned->looked_ns = time_ns;
	owned->owner = 0;
	write_owner(session, image, thread, owned, inner_owner, time_ns - gap_ns / 2);
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

void session_owners_take(struct session *session, struct image *image,
			 const struct wall_thread *thread, uint64_t serial, uint64_t time_ns)
{
	const struct wall_reader *reader = &session->wall.reader;
	const struct wait *wait = &reader->wait;
	struct wall_owned_wait *owned;

	if (wait->on == WAIT_ON_NOTHING)
		return;
	owned = wait_of(&session->wall.owners, thread->row);
	if (!owned->is_over && owned->serial == serial && time_ns >= owned->looked_ns)
		take_owner(session, image, thread, owned, wait->inner_owner, time_ns);
	else
		begin_wait(session, image, thread, owned, wait->inner_owner, time_ns);
	owned->serial = serial;
	owned->futex = reader->futex;
	owned->wait = *wait;
	owned->states = reader->states;
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
 * A thread whose turn to be read has not come is looked at as well if it waits where it did before:
 * or what is held early in its waits would be met less often.
 */
static bool waits_again(struct session *session, const struct image *image,
			const struct wall_thread *thread, const struct wall_owned_wait *owned)
{
	return !thread->is_coarse && thread->place == WALL_WAITS && !thread->is_read &&
	       wall_reader_waits_in(&session->wall.reader, image, thread, owned);
}

static void look(struct session *session, const struct wall_thread *thread,
		 struct wall_owned_wait *owned, uint64_t now_ns)
{
	struct image *image = tree_find(&session->tree, thread->pid);
	const bool is_on = goes_on(thread, owned);
	pid_t owner;

	/* The end of a thread is not another's in between. */
	if (is_on && owned->wait.on == WAIT_ON_THREAD && owned->owner != 0) {
		owned->looked_ns = now_ns;
		return;
	}
	if (!is_on)
		end_wait(session, owned, now_ns);
	if (image == NULL || (!is_on && !waits_again(session, image, thread, owned)))
		return;
	owner = wall_reader_owner(&session->wall.reader, image, &owned->wait, &owned->states,
				  now_ns);
	if (is_on)
		take_owner(session, image, thread, owned, owner, now_ns);
	else
		begin_wait(session, image, thread, owned, owner, now_ns);
	owned->serial = is_on ? owned->serial : thread->serial;
}

static void drop(struct session *session, struct wall_owned_wait *owned, uint64_t now_ns)
{
	struct wall_owners *owners = &session->wall.owners;
	const size_t number = (size_t)(owned - owners->waits) + 1;

	end_wait(session, owned, now_ns);
	table_remove(&owners->by_thread, 0, owned->thread);
	if (number < owners->count) {
		*owned = owners->waits[owners->count - 1];
		*table_at(&owners->by_thread, 0, owned->thread, NULL) = number;
	}
	owners->count--;
}

void session_owners_tick(struct session *session, uint64_t now_ns)
{
	struct wall_owners *owners = &session->wall.owners;
	const uint64_t until_ns = now_ns + session->wall.tick_ns / LOOKS_PART;

	if (owners->tick_ns != 0)
		owners->gap_ns = now_ns - owners->tick_ns;
	owners->tick_ns = now_ns;
	if (owners->next >= owners->count)
		owners->next = 0;
	while (owners->next < owners->count && monotonic_ns() < until_ns) {
		struct wall_owned_wait *owned = &owners->waits[owners->next];
		const struct wall_thread *thread =
			wall_find(&session->wall.threads, owned->thread);

		if (thread == NULL || thread->end_ns != UINT64_MAX) {
			drop(session, owned, now_ns);
			continue;
		}
		look(session, thread, owned, now_ns);
		owners->next++;
	}
}

void session_owners_close(struct session *session)
{
	free(session->wall.owners.waits);
	table_done(&session->wall.owners.by_thread);
	session->wall.owners = (struct wall_owners){ 0 };
}
