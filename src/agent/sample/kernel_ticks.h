/*
 * kernel_ticks - samples of system time, where the events count user mode only (an ordinary
 * user's; RING_KERNEL_TICKS).
 *
 * Such an event's trap never comes in the kernel, nor on the way back from it.  So a process's
 * first thread, and any that is seen to use system time, gets a timer of its own CPU clock
 * besides the event; the first thread's is deleted if its first 20 ms were mostly sampled
 * without it.  The kernel checks timers in its tick, whichever mode that interrupts, and their
 * signal comes at the return to user mode: right behind a system call, if the tick was in one.
 * Such a tick stands for the thread's time since its last tick; ticks elsewhere stand for
 * nothing, since events sample user time.  The time of page faults and interrupts is still in no
 * sample: it is part of [kernel time not sampled].
 *
 * The timer expires once, and its handler arms it again: a debugger that keeps the signal from
 * the handler sees one for each thread.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/ring.h"

/*
 * When sampling begins: gives the process's first thread a timer that expires after 20 ms of CPU
 * time.  If the thread spends these in system calls, no event's trap may come to do it.
 */
void kernel_ticks_begin(const struct ring_header *ring);
/* In the handler of an event's trap: gives the calling thread a timer, if it needs one. */
void kernel_ticks_look(const struct ring_header *ring);
bool kernel_ticks_are_of(const siginfo_t *info);
/* In a timer's handler: arms it again; false: deleted, since ticks are not wanted now. */
bool kernel_ticks_may_sample(const struct ring_header *ring);
/* Whether the calling thread has such a timer. */
bool kernel_ticks_are_on(void);
/* The calling thread ends: deletes its timer. */
void kernel_ticks_end_thread(void);
