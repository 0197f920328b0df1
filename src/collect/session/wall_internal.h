/*
 * session_wall_internal - what wall.c, wall_exact.c (with reports of switches) and
 * wall_coarse.c (without) share.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/wall/thread.h"

struct image;
struct image_thread;
struct session;
struct session_wall;

/* Reads take at most this part of a tick; other threads are read at the next. */
#define READS_PART 4

/* "run delay slices" of /proc/PID/task/TID/schedstat, in ns and times; false: it has ended. */
bool session_wall_read_sched(struct session_wall *wall, struct wall_thread *thread,
			     struct wall_sched *out_sched);
/* Adds a thread of the image that was found at time_ns; NULL: it is known already. */
struct wall_thread *session_wall_add(struct session *session, const struct image *image,
				     const struct image_thread *known, enum wall_place place,
				     uint64_t time_ns);
/* Ends a thread; does nothing if it has ended already. */
void session_wall_end(struct session_wall *wall, struct wall_thread *thread, uint64_t time_ns);
/* Ends a thread of which no event reported that, also for the recording. */
void session_wall_end_missed(struct session *session, struct wall_thread *thread,
			     uint64_t time_ns);
/*
 * Ends threads of before that were never listed: they began and ended between two scans, and are
 * known from their samples alone.  How long they lived is not known.
 */
void session_wall_end_unlisted(const struct session *session, struct image *image,
			       uint64_t before_ns);
/* One tick: looks at each thread, adds new ones, ends those that are gone. */
void session_wall_tick_coarse(struct session *session);

/* Lists the thread to be read at the next tick. */
void session_wall_list(struct session_wall *wall, struct wall_thread *thread);
/* Puts the waits that switched threads have ended since into rows, by their schedstat. */
void session_wall_settle(struct session *session);
/* Reads as many threads that wait as a part of the tick allows. */
void session_wall_tick_exact(struct session *session);
