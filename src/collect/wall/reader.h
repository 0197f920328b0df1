/*
 * wall_reader - reads from outside what threads that are off the CPU wait for, and their
 * stacks.
 *
 * A process is opened at the first read of one of its threads, which takes milliseconds; its
 * mappings are read again when it has mapped more.  Nothing is stopped: all is read while it
 * runs.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "collect/wall/thread.h"
#include "remote/stack.h"
#include "remote/task.h"
#include "remote/wait.h"

struct image;
struct interpreter_files;
struct stack_rows;
struct wall;
struct wall_owned_wait;

struct wall_reader {
	struct stack_rows *rows;    /* not owned, as threads */
	const struct wall *threads; /* the known threads */
	struct table processes;     /* by an image's row, to struct wall_process * */
	struct interpreter_files *files;
	size_t open;               /* number of open ones */
	struct remote_stack stack; /* of the last read, as the next five */
	struct wait wait;
	struct walk_states states;
	const char *name; /* in its language; NULL: not read, or none */
	char kernel_name
		[TASK_NAME_SIZE]; /* where switches are not reported, nor are its changes */
	uint64_t futex;           /* in which it waits; 0: in none */
	uint64_t met_ns;          /* CLOCK_MONOTONIC: when it was in that call */
	uint64_t cost_ns;         /* time spent on opening processes */
	uint64_t refused;         /* processes that may not be read */
};

enum wall_reading {
	WALL_READ_NOTHING, /* it runs, has ended, or may not be read */
	WALL_READ_STATE,   /* its state was read, but it went on before its stack was */
	WALL_READ_STACK,   /* it was in one call from the first byte read to the last */
};

void wall_reader_init(struct wall_reader *reader, struct stack_rows *rows,
		      const struct wall *threads);
void wall_reader_done(struct wall_reader *reader);
/*
 * Reads a thread of the image.  Whether it was the same wait from the beginning to the end is not
 * known by this alone: it may have been woken and wait again at the same place.
 */
enum wall_reading wall_reader_read(struct wall_reader *reader, struct image *image,
				   struct wall_thread *thread, uint64_t now_ns,
				   struct wall_read *out_read);
/*
 * The owner, at this moment, of what a thread of the image waits for (wait_owner_now(),
 * python_holders.h); 0: none, or not known; -EAGAIN: until_ns (monotonic) came before it was known.
 */
pid_t wall_reader_owner(struct wall_reader *reader, struct image *image,
			const struct wall_owned_wait *owned, uint64_t now_ns,
			uint64_t until_ns);
/*
 * Whether a thread of the image is at this moment still in that wait, by its futex; false if a
 * futex cannot show it.
 */
bool wall_reader_waits_in(struct wall_reader *reader, const struct image *image,
			  const struct wall_thread *thread,
			  const struct wall_owned_wait *owned);
/*
 * The stack of a thread that was woken and has not run since: its callers, as read in that
 * wait, and [waits for a CPU].  callers 0: they were not read; then its interpreter's frames
 * are read from memory, without native ones.  Returns 0 if it still waits, or has ended.
 */
uint32_t wall_reader_woken(struct wall_reader *reader, struct image *image,
			   const struct wall_thread *thread, uint32_t callers, uint64_t now_ns);
/* The image has mapped more. */
void wall_reader_map(struct wall_reader *reader, const struct image *image);
void wall_reader_forget(struct wall_reader *reader, const struct image *image);
