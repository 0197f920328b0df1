/*
 * hold - stops one thread of another process for some microseconds, and executes system calls on
 * it.
 *
 * Uses PTRACE_SEIZE and PTRACE_INTERRUPT, so no signal is sent.  From hold_borrow() until
 * hold_end() the thread has a frame (frame.h) that restores it even if the recorder dies.  All
 * calls must come from one thread of ours.
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
	struct user_regs_struct borrowed; /* the registers for the next call */
	uint64_t mask;                    /* the thread's signal mask */
};

/*
 * Stops the thread only to examine it, until hold_leave().  *out_why: why no system call could be
 * executed on it, or NULL.  -EAGAIN: the whole process is stopped.
 */
int hold_look(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	      struct error *err);
void hold_leave(struct hold *hold);
/* Stops the thread.  -EAGAIN: it cannot be used now (*out_why: a literal with the reason). */
int hold_begin(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	       struct error *err);
/*
 * Writes the frame and blocks all signals.  maps: as read a moment ago.  is_alone: the process
 * has no other thread.
 */
int hold_borrow(struct hold *hold, const struct attach_libc *libc, const struct maps *maps,
		bool is_alone, const char **out_why, struct error *err);
/*
 * Executes a system call; r12 is passed on to a cloned thread.  *out_result: the kernel's result.
 */
int hold_call(struct hold *hold, long number, const uint64_t arguments[6], uint64_t r12,
	      int64_t *out_result, struct error *err);
/* Writes into the process's code, which its threads may not write. */
int hold_write_code(struct hold *hold, uint64_t address, const void *code, size_t bytes,
		    struct error *err);
/* The thread goes on as if nothing had happened. */
void hold_end(struct hold *hold);
