/*
 * session_wall_coarse - a tick of the wall clock without reports of switches: reads from
 * schedstat how long every thread ran and queued since the last one.
 */
#include "collect/session/wall.h"

#include <stdlib.h>

#include "base/monotonic.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/session/owners.h"
#include "collect/session/state.h"
#include "collect/session/wall_internal.h"
#include "record/writer.h"
#include "remote/stack.h"
#include "remote/task.h"

/* How often /proc is scanned for new threads. */
#define SCAN_NS (50 * NS_PER_MS)
/*
 * CPU time after which a busy program's other threads are left for a later tick.  More at once
 * would be threads at one moment, and less not worth waking up for.
 */
#define LOOKS_CPU_NS (NS_PER_MS / 2)

void session_wall_end_unlisted(const struct session *session, struct image *image,
			       uint64_t before_ns)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		struct image_thread *known = &image->threads[i];

		if (known->end_ns == UINT64_MAX && known->start_ns < before_ns &&
		    wall_find(&session->wall.threads, known->row) == NULL)
			known->end_ns = known->start_ns;
	}
}

static int compare_tids(const void *a, const void *b)
{
	const pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

	return first < second ? -1 : first > second;
}

/* Ends a thread that is gone at now_ns: in the middle of the time since it was there last. */
static void end_gone(struct session *session, struct wall_thread *thread, uint64_t now_ns)
{
	const uint64_t scanned_ns = session->wall.scanned_ns;
	uint64_t there_ns = thread->since_ns;

	if (scanned_ns > there_ns && scanned_ns < now_ns)
		there_ns = scanned_ns;
	session_wall_end_missed(session, thread, there_ns + (now_ns - there_ns) / 2);
}

/*
 * Ends the image's threads that are not among those that exist, in ascending order.  A long list may
 * lack some: where others end meanwhile, the kernel may leave out the next.
 */
static void end_missing(struct session *session, struct image *image, const pid_t *tids,
			size_t count, uint64_t now_ns)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		struct wall_thread *thread =
			wall_find(&session->wall.threads, image->threads[i].row);

		struct wall_sched unused;

		if (thread != NULL && thread->end_ns == UINT64_MAX &&
		    bsearch(&thread->tid, tids, count, sizeof *tids, compare_tids) == NULL &&
		    !session_wall_read_sched(&session->wall, thread, &unused))
			end_gone(session, thread, now_ns);
	}
}

/* Adds an image's new threads, also those that have got the tid of an ended one. */
static void scan_image(struct session *session, struct image *image, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	size_t count = 0;
	pid_t *tids = NULL;

	if (task_list(image->pid, &tids, &count) < 0)
		return;
	qsort(tids, count, sizeof *tids, compare_tids);
	end_missing(session, image, tids, count, now_ns);
	for (size_t i = 0; i < count; i++) {
		struct image_thread *known =
			image_thread_at(image, tids[i], now_ns, session->writer);
		struct wall_thread *thread = wall_find(&wall->threads, known->row);

		if (known->end_ns != UINT64_MAX) {
			/* The tid is another thread's by now. */
			image_forget_tid(image, tids[i]);
			known = image_thread_at(image, tids[i], now_ns, session->writer);
			thread = NULL;
		}
		if (thread != NULL)
			continue;
		/* The first thread began with its process. */
		if (tids[i] == image->pid && image->start_ns < known->start_ns)
			known->start_ns = image->start_ns;
		session_wall_add(session, image, known, WALL_QUEUES, known->start_ns);
	}
	/* All that are listed were added. */
	session_wall_end_unlisted(session, image, now_ns - SCAN_NS);
	free(tids);
}

/* Scans new processes at once, others now and then. */
static void scan_all(struct session *session, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	struct tree *tree = &session->tree;
	const bool is_due = now_ns >= wall->scanned_ns + SCAN_NS;

	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];
		const bool is_new = image->thread_count == 0 ||
				    wall_find(&wall->threads, image->threads[0].row) == NULL;

		if (!image->is_gone && (is_due || is_new))
			scan_image(session, image, now_ns);
	}
	if (is_due)
		wall->scanned_ns = now_ns;
}

void session_wall_end_missed(struct session *session, struct wall_thread *thread,
			     uint64_t time_ns)
{
	struct image *image = tree_find(&session->tree, thread->pid);
	struct image_thread *known =
		image != NULL ? image_find_thread(image, thread->tid) : NULL;

	if (known != NULL && known->row == thread->row)
		known->end_ns = time_ns;
	session_wall_end(&session->wall, thread, time_ns);
}

/* Reads the thread; sched: its schedstat just before. */
static void read_coarse(struct session *session, struct wall_thread *thread,
			const struct wall_sched *sched, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	struct image *image = tree_find(&session->tree, thread->pid);
	enum wall_reading reading = WALL_READ_NOTHING;
	struct wall_sched again;
	struct wall_read read;

	if (image != NULL)
		reading = wall_reader_read(&wall->reader, image, thread, now_ns, &read);
	wall->reads += reading != WALL_READ_NOTHING;
	if (reading != WALL_READ_NOTHING &&
	    (reading == WALL_READ_STATE || !session_wall_read_sched(wall, thread, &again) ||
	     again.slices != sched->slices)) {
		wall->torn++;
		read = (struct wall_read){ .state = read.state };
	}
	wall_thread_look(thread, &wall->threads.rows, sched,
			 reading != WALL_READ_NOTHING ? &read : NULL, now_ns);
	if (reading == WALL_READ_STACK && read.has_stack)
		session_owners_take(session, image, thread, sched->slices);
	/* A wait whose stack was not read is read again. */
	thread->is_read = thread->is_read && read.has_stack;
}

/*
 * Looks at a thread.  One that was not switched since its last look, and was not read, waits for
 * long: one reading serves all of that, so it is read before those that were switched, which get
 * their turns later (may_read).
 */
static void look_coarse(struct session *session, struct wall_thread *thread, bool may_read,
			uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	const bool is_in_time = monotonic_ns() < wall->reads_until_ns;
	struct wall_sched sched;

	if (!session_wall_read_sched(wall, thread, &sched)) {
		end_gone(session, thread, now_ns);
		return;
	}
	const bool was_switched = sched.slices != thread->sched.slices;

	if (thread->is_read && !was_switched && !thread->read.is_provisional) {
		wall_thread_look(thread, &wall->threads.rows, &sched, &thread->read, now_ns);
		return;
	}
	if (was_switched && !may_read) {
		session_wall_list(wall, thread);
		return;
	}
	thread->is_read = false;
	if (is_in_time) {
		wall->cursor = may_read ? thread->row : wall->cursor;
		read_coarse(session, thread, &sched, now_ns);
	} else {
		wall_thread_pass(thread, &sched, now_ns);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* Looks at a thread that was taken off the list. */
static void look_listed(struct session *session, uint32_t row, uint64_t now_ns)
{
	struct wall_thread *thread = wall_find(&session->wall.threads, row);

	if (thread == NULL)
		return;
	thread->is_listed = false;
	if (thread->end_ns == UINT64_MAX)
		look_coarse(session, thread, true, now_ns);
}

/* In turns: what one tick has no time for begins the next one. */
static void read_switched(struct session *session, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	const size_t count = wall->listed_count;
	size_t first = 0;

	if (count > 0)
		qsort(wall->listed, count, sizeof *wall->listed, compare_rows);
	while (first < count && wall->listed[first] <= wall->cursor)
		first++;
	for (size_t i = 0; i < count; i++)
		look_listed(session, wall->listed[(first + i) % count], now_ns);
	wall->listed_count = 0;
}

/* The next thread that has not ended, from the cursor on, which begins with 0; NULL: none. */
static struct wall_thread *next_living(const struct session_wall *wall, size_t *cursor)
{
	uint64_t hi, lo, value;

	while (table_next(&wall->threads.by_row, cursor, &hi, &lo, &value)) {
		struct wall_thread *thread = (void *)(uintptr_t)value;

		if (thread->end_ns == UINT64_MAX)
			return thread;
	}
	return NULL;
}

static void look_at_all(struct session *session, uint64_t now_ns)
{
	struct wall_thread *thread;
	size_t cursor = 0;

	session->wall.looks++;
	while ((thread = next_living(&session->wall, &cursor)) != NULL)
		look_coarse(session, thread, false, now_ns);
	read_switched(session, now_ns);
}

static void begin_turns(struct session_wall *wall)
{
	struct wall_thread *thread;
	size_t cursor = 0;

	wall->looks++;
	while ((thread = next_living(wall, &cursor)) != NULL)
		session_wall_list(wall, thread);
}

/*
 * Looks at as many threads as a tick of a busy program may, and at the others in later ones.
 * All at one moment would be like one look where they do the same at the same time.
 */
static void look_in_turns(struct session *session, uint64_t now_ns)
{
	struct session_wall *wall = &session->wall;
	const uint64_t until_ns = stack_clock_ns() + LOOKS_CPU_NS;

	if (wall->listed_count == 0)
		begin_turns(wall);
	while (wall->listed_count > 0 && stack_clock_ns() < until_ns)
		look_listed(session, wall->listed[--wall->listed_count], now_ns);
}

void session_wall_tick_coarse(struct session *session)
{
	struct session_wall *wall = &session->wall;
	const uint64_t now_ns = monotonic_ns();

	scan_all(session, now_ns);
	wall->reads_until_ns = now_ns + wall->tick_ns / READS_PART;
	if (wall->has_gone_coarse)
		look_in_turns(session, now_ns);
	else
		look_at_all(session, now_ns);
	wall->threads.now_ns = now_ns;
}

static void note_coarse(struct session *session)
{
	const struct session_wall *wall = &session->wall;
	const uint64_t end_ns = session->over_ns != 0 ? session->over_ns : monotonic_ns();
	const double looks = wall->looks > 0 ? (double)wall->looks : 1;
	struct text note = { 0 };

	text_addf(&note,
		  "the program switches between threads so often that to report each switch "
		  "would slow it: from %.1f s on the lengths of waits come from schedstat, "
		  "waiting threads are read every %.0f ms, the ends of threads are known to "
		  "50 ms, and threads that live shorter may be missing",
		  (double)(wall->coarse_ns - session->start_ns) / 1e9,
		  ((double)end_ns - (double)wall->coarse_ns) / 1e6 / looks);
	recording_writer_note(session->writer, text_string(&note));
	text_done(&note);
}

void session_wall_note(struct session *session)
{
	struct session_wall *wall = &session->wall;

	if (!wall->is_on)
		return;
	if (wall->has_gone_coarse)
		note_coarse(session);
	else if (wall->is_coarse)
		recording_writer_note(session->writer,
				      "perf events are refused: the lengths of waits come from "
				      "schedstat, at ticks, and threads that live shorter than "
				      "50 ms may be missing");
	if (wall->threads.without_row > 0)
		recording_writer_add_lost(session->writer, "the disk was too slow for waits",
					  1 + wall->threads.without_row / wall->tick_ns);
}
