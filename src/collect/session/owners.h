/*
 * session_owners - which thread holds what another one waits for, at ticks of the wall clock.
 *
 * A wait that was read has its owner written (table owners); as long as it goes on its owner is
 * looked at again at each tick, which is a read or two, and written when it is another one, as of
 * the middle of the time between the two looks.  So each look stands for the time around it from
 * one tick to the next, also where a wait began or ended within that: an owner that was met at
 * the edge of a wait has no less than one that was met in the middle.
 */
#pragma once
#include <stdint.h>

struct image;
struct session;
struct wall_thread;

/*
 * What was read last (wall/reader.h) is this thread's wait, at that moment.  serial: of the thread
 * then, or where switches are not reported its slices (schedstat).
 */
void session_owners_take(struct session *session, struct image *image,
			 const struct wall_thread *thread, uint64_t serial, uint64_t time_ns);
void session_owners_tick(struct session *session, uint64_t now_ns);
void session_owners_close(struct session *session);
