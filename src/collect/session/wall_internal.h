/*
 * session_wall_internal - what the two ways of wall.h, with switches and without, share.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/wall/thread.h"

struct image;
struct image_thread;
struct session;
struct session_wall;

/* Of a tick's time, reads take this part at most; the others are read at the next. */
#define READS_PART 4

/* "run delay slices" of /proc/PID/task/TID/schedstat, in ns and times; false: it has ended. */
bool session_wall_read_sched(struct session_wall *wall, struct wall_thread *thread,
			     struct wall_sched *out_sched);
/* A thread of the image that was met at that time; NULL: it is known already. */
struct wall_thread *session_wall_add(struct session *session, const struct image *image,
				     const struct image_thread *known, enum wall_place place,
				     uint64_t time_ns);
/* Once: of one that has ended nothing changes. */
void session_wall_end(struct session_wall *wall, struct wall_thread *thread, uint64_t time_ns);
/* One after the other: each thread is looked at, new ones are found, ended ones end. */
void session_wall_tick_coarse(struct session *session);

/* The thread is to be read at the next tick. */
void session_wall_list(struct session_wall *wall, struct wall_thread *thread);
/* The waits that switched threads have ended since are put into rows, by their schedstat. */
void session_wall_settle(struct session *session);
/* Reads as many threads that wait as a part of the tick allows. */
void session_wall_tick_exact(struct session *session);
