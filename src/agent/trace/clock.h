/*
 * clock - the time of traced calls, in ticks (abi/ticks.h).
 *
 * It is the machine's counter, or the calling thread's own CPU clock, which takes no
 * system call at an event.  The kernel shows where a thread was switched away from: while a
 * thread runs on, its clock advances as the counter does.
 *
 * Restartable sequences (rseq(2)) show it.  A thread that is registered has a word,
 * rseq_cs, that names a piece of its code; when the kernel returns to the thread after it was
 * preempted, moved or put to sleep it looks whether that code was interrupted, and if it was
 * not, clears the word.  So a descriptor of code that is never executed is put there, together
 * with a reading of the CPU clock by system call.  As long as it stands, that reading and what
 * the counter advanced since are the clock's; when it is gone, the clock is read anew.  It is
 * also read anew after a millisecond: interrupts, and what a virtual machine is robbed of, may
 * be in the counter and not in the clock.
 *
 * Readings are absolute, so nothing adds up: what is off between two of them is mended by the
 * second.
 *
 * The C library registers its threads from glibc 2.35 on.  Where it does not, where the word is
 * not cleared behind a system call that slept (Linux 6.19 leaves it alone: it looks at the word
 * only where user code was interrupted), and in a thread whose program uses the word itself, an
 * event costs a system call.
 *
 * While the program has switched tracing off the clock stands still, and is behind for that
 * from then on: a thread's CPU clock from its first event in that time to its first one after
 * it.
 */
#pragma once
#include <stdbool.h>

#include "abi/ticks.h"

struct trace_area;

struct trace_clock {
	u64 skipped;    /* of the counter, while tracing was off */
	u64 stopped_at; /* while it is off */
	bool is_off;
	bool is_cpu;
	bool is_frozen; /* the program forbade to read the counter: it shows what it did then */
	bool is_special; /* one of them: trace_clock_special() has it */
	u64 frozen_at;   /* what the counter shows when it is frozen */
};
extern struct trace_clock trace_clock;

/* Whose clock it is, and how it is read, from the process's first event on. */
void trace_clock_begin(struct trace_area *area);
/* Stops it, or lets it go on; of one thread at a time. */
void trace_clock_stop(void);
void trace_clock_go_on(void);
/* In a child of fork, whose thread has another clock. */
void trace_clock_forget(void);
/* Before the program forbids that the counter be read, and when it has allowed it again. */
void trace_clock_freeze(void);
void trace_clock_thaw(void);
/* The machine's counter, or what it showed when it could be read last. */
u64 trace_clock_counter(void);
/* Of a clock that is not the counter itself. */
u64 trace_clock_special(void);

/* By which the calling thread is ahead: never to be compared with another's. */
static inline u64 trace_now(void)
{
	return __builtin_expect(trace_clock.is_special, 0) ? trace_clock_special()
							   : ticks_now() - trace_clock.skipped;
}
