/*
 * session_events - takes the kernel's reports of processes and threads, and of each ended
 * thread's CPU time.
 *
 * CPU time is reported a moment after the end (exit_counters.h).  If it is the only figure of a
 * process, the end is held back for a while until it has come.
 */
#include "collect/session/state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/session/options.h"
#include "collect/session/wall.h"
#include "collect/events/sideband.h"
#include "collect/events/sideband_event.h"
#include "collect/processes/storms.h"

/*
 * How long an end is held back: a thread is seldom preempted for so long between the two
 * reports.
 */
#define HOLD_NS (50 * NS_PER_MS)

void session_begin_storms(struct session *session)
{
	const struct session_options *options = session->options;

	session->storms =
		storms_new(session->sideband != NULL && session->ability.can_sigtrap &&
			   options->clock == CLOCK_KIND_CPU && !options->is_trace &&
			   !options->no_children);
}

void session_close_storms(struct session *session)
{
	storms_free(session->storms);
	free(session->held_ends);
}

static bool session_find_burned(struct session *session, struct image *image, pid_t tid)
{
	uint64_t ns;

	if (!session->has_read_storms)
		storms_read(session->storms);
	session->has_read_storms = true;
	if (!storms_take_end(session->storms, image, tid, &ns))
		return false;
	image->ended_ns += ns;
	return true;
}

static bool session_waits_for_burned(const struct session *session, const struct image *image,
				     const struct sideband_event *event)
{
	return storms_count(session->storms, image) && image->state != IMAGE_ENTERED &&
	       image->counters.events.count == 0 && monotonic_ns() - event->time_ns < HOLD_NS;
}

/* Takes a thread's end; false: its CPU time is still to come. */
static bool session_take_end(struct session *session, const struct sideband_event *event)
{
	struct image *image = tree_find(&session->tree, event->pid);

	if (image != NULL && !session_find_burned(session, image, event->tid)) {
		if (session_waits_for_burned(session, image, event))
			return false;
		image->is_end_unknown = true;
	}
	tree_take(&session->tree, event);
	return true;
}

void session_end_storm(struct session *session, uint32_t id)
{
	const pid_t pid = storms_pid(session->storms, id);

	storms_end(session->storms, id, pid != 0 ? tree_find(&session->tree, pid) : NULL);
	storms_stop_counting(session->storms, id);
}

/* A new process belongs to its parent's storm; a new thread ends the storm that it is in. */
static void session_take_fork(struct session *session, const struct sideband_event *event)
{
	struct tree *tree = &session->tree;
	struct image *image = tree_find(tree, event->pid);
	const struct image *parent = tree_find(tree, event->parent_pid);

	if (image == NULL || parent == NULL)
		return;
	if (image != parent) {
		storms_take_fork(session->storms, image, parent, event->time_ns);
		return;
	}
	const pid_t pid = storms_pid(session->storms, image->in_storm);
	struct image *above = pid != 0 ? tree_find(tree, pid) : NULL;

	if (above != NULL)
		above->has_threads_below = true;
	session_end_storm(session, image->storm);
	session_end_storm(session, image->in_storm);
}

/*
 * Takes the held ends of this process, with or without CPU time (pid 0: those whose CPU time
 * has come, or that have waited long enough).
 */
static void session_take_held_ends(struct session *session, int pid)
{
	const size_t count = session->held_end_count;

	session->held_end_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct sideband_event event = session->held_ends[i];

		if (event.pid == pid)
			tree_take(&session->tree, &event);
		else if (pid != 0 || !session_take_end(session, &event))
			session->held_ends[session->held_end_count++] = event;
	}
}

static void session_take_event(void *context, const struct sideband_event *event)
{
	struct session *session = context;

	if (event->kind == SIDEBAND_SWITCH) {
		session_wall_take(session, event);
		return;
	}
	session_copied_take(session, event->time_ns);
	if (event->kind == SIDEBAND_EXIT)
		session_wall_take(session, event);
	if (event->kind == SIDEBAND_EXIT) {
		if (session_take_end(session, event))
			return;
		session->held_ends =
			array_grow(session->held_ends, session->held_end_count,
				   &session->held_end_capacity, sizeof *session->held_ends);
		session->held_ends[session->held_end_count++] = *event;
		return;
	}
	/*
	 * First the held ends of other threads, which this exec ended, and of the pid's
	 * previous process.
	 */
	if (session->held_end_count > 0 &&
	    (event->is_exec ||
	     (event->kind == SIDEBAND_FORK && event->pid != event->parent_pid)))
		session_take_held_ends(session, event->pid);
	tree_take(&session->tree, event);
	session_wall_take(session, event);
	if (event->kind == SIDEBAND_FORK)
		session_take_fork(session, event);
}

void session_close_events(struct session *session)
{
	struct tree *tree = &session->tree;

	storms_stop(session->storms);
	for (size_t i = 0; i < tree->count; i++)
		session_end_storm(session, tree->images[i]->storm);
	session_take_events(session);
	for (size_t i = 0; i < session->held_end_count; i++)
		tree_take(tree, &session->held_ends[i]);
	session->held_end_count = 0;
	sideband_close(session->sideband);
	session->sideband = NULL;
	session_wall_go_coarse(session);
	tree->has_sideband = false;
}

void session_take_events(struct session *session)
{
	const uint64_t until_ns = monotonic_ns();

	session->copied.fullest = 0;
	if (session->sideband == NULL) {
		/* The sideband was closed (switches.c); copied stacks go on. */
		session_copied_take(session, until_ns);
		return;
	}
	session->has_read_storms = false;
	session->events_dropped +=
		sideband_drain(session->sideband, session_take_event, session);
	session->wall.threads.now_ns = until_ns;
	session_copied_take(session, until_ns);
	if (session->held_end_count > 0)
		session_take_held_ends(session, 0);
	storms_forget(session->storms);
}
