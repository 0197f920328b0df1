/*
 * kernel_ticks - samples of system time, where the events count user mode only (an ordinary
 * user's; RING_KERNEL_TICKS).
 *
 * Such an event's trap never comes in the kernel, nor on the way back from it.  So a process's first
 * thread, and any that is seen to burn system time, gets a timer of its own CPU clock beside the event;
 * the first one's goes when its first 20 ms were mostly sampled without it.  Timers are
 * looked at in the kernel's tick, whichever mode it interrupts, and their signal comes at the
 * return to user mode: behind a system call, if the tick was in one.  Such a tick stands for the
 * thread's time since its tick before; the others' time is the events'.  What page faults and
 * interrupts take is in no sample still, and part of what is known as kernel time not sampled.
 *
 * The timer comes once, and its handler sets it again: a debugger that keeps the signal from
 * the handler sees one for each thread.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/ring.h"

/*
 * The process's first thread begins to be sampled: it gets a timer that comes once it has burned
 * 20 ms.  Of one that burns them in system calls no event's trap might come, to give it one.
 */
void kernel_ticks_begin(const struct ring_header *ring);
/* In the handler of an event's trap: gives the calling thread a timer, if it needs one. */
void kernel_ticks_look(const struct ring_header *ring);
bool kernel_ticks_are_of(const siginfo_t *info);
/*
 * In a timer's handler: sets it again; or false, and there is no timer any more, if ticks are not
 * wanted now.
 */
bool kernel_ticks_may_sample(const struct ring_header *ring);
/* The calling thread ends: its timer with it. */
void kernel_ticks_end_thread(void);
