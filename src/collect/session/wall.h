/*
 * session_wall - accounts for what a session's threads do while they do not run, by the wall
 * clock.
 *
 * Context switches come from the sideband, exact; without it (perf events are refused, or were
 * closed because a program switches too often) schedstat is read at each tick.  At each tick,
 * threads that were switched out since they were last read are read (wall/reader.h).  With
 * other clocks these functions do nothing.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;
struct image;
struct session;
struct sideband_event;

/* Called before the first event.  -errno and a sentence if no timer can be made. */
int session_wall_begin(struct session *session, struct error *err);
void session_wall_close(struct session *session);
/* Adds all threads of processes that already run. */
void session_wall_add_running(struct session *session);
/* Takes a switch, or another event once the tree has taken it. */
void session_wall_take(struct session *session, const struct sideband_event *event);
/* Becomes readable when a tick is due; -1: there is no wall clock. */
int session_wall_fd(const struct session *session);
void session_wall_tick(struct session *session);
/* Closes ended threads whose last samples have come. */
void session_wall_round(struct session *session);
/* From now on switches are not reported. */
void session_wall_go_coarse(struct session *session);
/* The image has ended, or is left: all of its samples have come. */
void session_wall_end_image(struct session *session, struct image *image);
/* At the end of the session: writes notes. */
void session_wall_note(struct session *session);
