/*
 * wall - the threads of a session on the wall clock, and their rows in the recording.
 *
 * A thread is known by its row in the recording, so that a tid can be another thread's later.
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
	struct wall_rows rows;
	struct codes *codes; /* not owned */
	uint64_t session_start_ns;
	uint64_t now_ns;      /* up to then switches are taken in */
	uint64_t without_row; /* ns: the disk was too slow for rows */
	uint32_t own_codes[WAIT_STATE_COUNT], queue_code, unsampled_code;
};

/* The wall is not moved from then on. */
void wall_init(struct wall *wall, struct codes *codes, uint64_t session_start_ns);
void wall_done(struct wall *wall);

struct wall_thread *wall_find(const struct wall *wall, uint32_t row);
struct image;
struct image_thread;
/*
 * The thread of the image that its own PID namespace numbers so, which is another number than ours
 * if it is of this other thread of it, which was read; NULL: none that is known.
 */
const struct image_thread *wall_find_inner(const struct wall *wall, struct image *image,
					   const struct wall_thread *like, pid_t inner_tid);
/* A thread that is not known yet; NULL if it is, or is no thread's row. */
struct wall_thread *wall_add(struct wall *wall, uint32_t row, pid_t pid, pid_t tid);
/* All of its life is in rows: it is forgotten. */
void wall_close(struct wall *wall, struct wall_thread *thread);
/*
 * So much of a sample's time as its thread has run: what it may stand for.  wall may be NULL, or the
 * thread may not be known: then all, or nothing of it.
 */
uint64_t wall_claim(struct wall *wall, uint32_t row, uint64_t ns);
