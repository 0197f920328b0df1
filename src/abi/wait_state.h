/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * wait_state - the states of a thread at a moment of the wall clock, of which exactly one holds.
 *
 * The numbers are those of the recording (docs/recording.md), the words those of reports and
 * JSON.  If several apply, the more specific one is taken: a read of a pipe is io, not syscall.
 */
#pragma once

#define WAIT_STATE_MAP(X)                                                                     \
	X(RUNNING, 0, "running")                                                              \
	X(RUNNABLE, 1, "runnable") /* waits for a CPU: preempted, or woken and not yet run */ \
	X(GIL, 2, "gil")                                                                      \
	X(GVL, 3, "gvl")                                                                      \
	X(LOCK, 4, "lock")       /* a mutex, a condition, a semaphore: another thread */      \
	X(SYSCALL, 5, "syscall") /* any other system call, shown by its name */               \
	X(STOPPED, 6, "stopped") /* by a signal or a debugger */                              \
	X(IO, 7, "io")           /* a descriptor; a page that is read from a file or swap */  \
	X(SLEEP, 8, "sleep")     /* for a time */                                             \
	X(WAIT, 9, "wait")       /* for a child, a signal, a thread's end */

enum wait_state {
#define WAIT_STATE(name, number, word) WAIT_STATE_##name = number,
	WAIT_STATE_MAP(WAIT_STATE)
#undef WAIT_STATE
		WAIT_STATE_COUNT
};
