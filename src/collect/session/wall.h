/*
 * session_wall - the wall clock of a session: what its threads do while they do not run.
 *
 * Switches come from the sideband, exact; where there is none (perf events are refused, or a
 * program switches so often that they were closed), what schedstat says at each tick serves.
 * At each tick of its clock, threads that were taken off their CPU since they were read last are
 * read (wall/reader.h).  Nothing of it is called where the clock is another one.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;
struct image;
struct session;
struct sideband_event;

/* Before the first event.  The sentence: there is no timer. */
int session_wall_begin(struct session *session, struct error *err);
void session_wall_close(struct session *session);
/* Of processes that run already: all threads that there are. */
void session_wall_add_running(struct session *session);
/* A switch; any other event once the tree has taken it. */
void session_wall_take(struct session *session, const struct sideband_event *event);
/* Becomes readable when a tick is due; -1: there is no wall clock. */
int session_wall_fd(const struct session *session);
void session_wall_tick(struct session *session);
/* Threads whose last samples have come are closed. */
void session_wall_round(struct session *session);
/* From now on there are no switches. */
void session_wall_go_coarse(struct session *session);
/* The image has ended, or is left: all of its samples have come. */
void session_wall_end_image(struct session *session, struct image *image);
/* At the end of the session: what is to be said of it. */
void session_wall_note(struct session *session);
