/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * wait_state - what a thread does at a moment of the wall clock: exactly one of these.
 *
 * The numbers are the recording's (docs/recording.md), the words those of reports and JSON.  Where
 * several would fit, the more specific one holds: a read of a pipe is io, not syscall.
 */
#pragma once

#define WAIT_STATE_MAP(X)                                                                    \
	X(RUNNING, 0, "running")                                                             \
	X(RUNNABLE, 1, "runnable") /* it wants a CPU: preempted, or woken and not yet run */ \
	X(GIL, 2, "gil")                                                                     \
	X(GVL, 3, "gvl")                                                                     \
	X(LOCK, 4, "lock")       /* a mutex, a condition, a semaphore: another thread */     \
	X(SYSCALL, 5, "syscall") /* what is none of the others, by its name */               \
	X(STOPPED, 6, "stopped") /* by a signal or a debugger */                             \
	X(IO, 7, "io")           /* a descriptor; a page that is read from a file or swap */ \
	X(SLEEP, 8, "sleep")     /* for a time */                                            \
	X(WAIT, 9, "wait")       /* for a child, a signal, a thread's end */

enum wait_state {
#define WAIT_STATE(name, number, word) WAIT_STATE_##name = number,
	WAIT_STATE_MAP(WAIT_STATE)
#undef WAIT_STATE
		WAIT_STATE_COUNT
};
