/*
 * hold - one thread of another process, stopped for some microseconds, on which system calls are
 * executed.
 *
 * By PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent.  From hold_borrow() until hold_end() the
 * thread has a frame (frame.h) that puts it back whatever becomes of us.  The caller stays the same
 * thread of ours throughout.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/home.h"

struct attach_libc;
struct error;
struct maps;

struct hold {
	pid_t pid, tid;
	bool is_stopped, is_borrowed;
	struct user_regs_struct stopped;
	struct home home;
	struct user_regs_struct borrowed; /* for the next call */
	uint64_t mask;                    /* the thread's signals */
};

/*
 * Stops it, to look at it alone: it goes on by hold_leave().  *out_why: why nothing could be
 * executed on it, or NULL.  -EAGAIN: the whole process is stopped.
 */
int hold_look(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	      struct error *err);
void hold_leave(struct hold *hold);
/* Stops it.  -EAGAIN: it is not to be used at this moment (a literal in *out_why). */
int hold_begin(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	       struct error *err);
/*
 * Makes the frame and blocks all signals.  maps: as read a moment ago.  is_alone: the process has
 * no other thread.
 */
int hold_borrow(struct hold *hold, const struct attach_libc *libc, const struct maps *maps,
		bool is_alone, const char **out_why, struct error *err);
/* One system call; r12 for what a clone begins with.  *out_result: what the kernel said. */
int hold_call(struct hold *hold, long number, const uint64_t arguments[6], uint64_t r12,
	      int64_t *out_result, struct error *err);
/* Writes code where the thread itself may not. */
int hold_write_code(struct hold *hold, uint64_t address, const void *code, size_t bytes,
		    struct error *err);
/* The thread goes on as if nothing had happened. */
void hold_end(struct hold *hold);
