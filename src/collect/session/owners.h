/*
 * session_owners - finds which thread holds what another one waits for, at ticks of the wall
 * clock.
 *
 * When a wait is read its owner is written (table owners).  As long as the wait goes on its
 * owner is read again at each tick, which takes a read or two, and written if it has changed,
 * as of the middle between the two looks.  So each look stands for the time around it, half of
 * the distances to the ticks before and after, even if the wait began or ended within that time:
 * an owner that was found at the edge of a wait gets no less than one that was found in the
 * middle.
 *
 * Reading threads takes a processor, so what they hold changes hands later meanwhile: looks at
 * the end of a tick would find these moments too often, and short holds too seldom.
 */
#pragma once
#include <stdint.h>

struct image;
struct session;
struct wall_thread;

/* A tick begins, before anything else is read: looks at waits that are known. */
void session_owners_look(struct session *session);
/*
 * Takes this thread's wait, which was read last (wall/reader.h).  serial: the thread's at that
 * moment, or, where switches are not reported, its slices (schedstat).
 */
void session_owners_take(struct session *session, struct image *image,
			 const struct wall_thread *thread, uint64_t serial);
/* It ends: writes what was found, and looks at what is left. */
void session_owners_tick(struct session *session);
void session_owners_close(struct session *session);
