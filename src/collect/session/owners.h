/*
 * session_owners - finds which thread holds what another one waits for, at ticks of the wall
 * clock.
 *
 * When a wait is read its owner is written (table owners).  As long as the wait goes on its
 * owner is read again at each tick, which takes a read or two, and written if it has changed,
 * as of the middle between the two looks.  So each look stands for the time of one tick around
 * it, even if the wait began or ended within that time: an owner that was found at the edge of
 * a wait gets no less than one that was found in the middle.
 */
#pragma once
#include <stdint.h>

struct image;
struct session;
struct wall_thread;

/*
 * Takes this thread's wait, which was read last (wall/reader.h), at time_ns.  serial: the
 * thread's at that moment, or, where switches are not reported, its slices (schedstat).
 */
void session_owners_take(struct session *session, struct image *image,
			 const struct wall_thread *thread, uint64_t serial, uint64_t time_ns);
void session_owners_tick(struct session *session, uint64_t now_ns);
void session_owners_close(struct session *session);
