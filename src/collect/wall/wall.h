/*
 * wall - the threads of a session on the wall clock, and their rows in the recording.
 *
 * A thread is identified by its row in the recording, since a tid can be another thread's
 * later.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "collect/wall/thread.h"

struct codes;

struct wall {
	struct table by_row; /* to struct wall_thread * */
	struct table kinds;  /* by program, first threads apart: to struct wall_kind * */
	struct wall_rows rows;
	struct codes *codes; /* not owned */
	uint64_t session_start_ns;
	uint64_t now_ns;      /* up to then switches have been taken */
	uint64_t without_row; /* ns: the disk was too slow for rows */
	uint32_t own_codes[WAIT_STATE_COUNT], queue_code, unsampled_code;
};

/* The wall must not be moved afterwards. */
void wall_init(struct wall *wall, struct codes *codes, uint64_t session_start_ns);
void wall_done(struct wall *wall);

struct wall_thread *wall_find(const struct wall *wall, uint32_t row);
struct image;
struct image_thread;
/*
 * The thread of the image with this tid in the image's own PID namespace; NULL: none that is
 * known.  `like`, a thread of the image that was read, shows whether tids there differ from
 * ours.
 */
const struct image_thread *wall_find_inner(const struct wall *wall, struct image *image,
					   const struct wall_thread *like, pid_t inner_tid);
/* Adds a thread of the image; NULL if it is known already, or row is 0. */
struct wall_thread *wall_add(struct wall *wall, const struct image *image, uint32_t row,
			     pid_t tid);
/* After an exec: its short waits are like those of the new program's threads. */
void wall_set_kind(struct wall *wall, struct wall_thread *thread, const struct image *image);
/* Writes the last rows of its life, and frees it. */
void wall_close(struct wall *wall, struct wall_thread *thread);
/*
 * Limits the time of a sample to how long its thread has run without one.  If wall is NULL
 * there is no limit; if the thread is not known it is 0.
 */
uint64_t wall_claim(struct wall *wall, uint32_t row, uint64_t ns);
