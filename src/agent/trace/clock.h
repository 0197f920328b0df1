/*
 * clock - the time of traced calls, in ticks (abi/ticks.h).
 *
 * It is the machine's counter or, for a trace of CPU time, the calling thread's own CPU clock.
 * Reading that at each event would take a system call.  But while a thread runs without
 * interruption its CPU clock advances as the counter does, and the kernel shows interruptions.
 *
 * It does so by restartable sequences (rseq(2)).  A registered thread has a word, rseq_cs, that
 * points to a descriptor of a piece of code.  When the kernel returns to a thread that it had
 * preempted, migrated or put to sleep, and the thread was not within that piece, it clears the
 * word.  So we store a descriptor of code that is never executed, as a marker, and read the CPU
 * clock by system call.  While the marker is set, the CPU clock is that reading plus the counter's
 * advance since; once it is cleared, the clock is read anew.  It is also read anew after a
 * millisecond: the counter includes interrupts, and time that a hypervisor takes from a virtual
 * machine, which the CPU clock may not.
 *
 * Readings are absolute, so errors do not add up: the next reading corrects the last.
 *
 * glibc registers its threads from 2.35 on.  An event costs a system call where the C library does
 * not, where the kernel does not clear the word after a system call that slept (Linux 6.19 leaves
 * it alone, and looks at it only where user code was interrupted), and in a thread whose program
 * uses the word itself.
 *
 * While the program has tracing switched off, the clock stands still, and lags behind the counter
 * from then on.  A thread's CPU clock stands still from the thread's first event in that time to
 * its first one after it.
 */
#pragma once
#include <stdbool.h>

#include "abi/ticks.h"

struct trace_area;

struct trace_clock {
	u64 skipped;    /* ticks of the counter while tracing was off, in all */
	u64 stopped_at; /* the clock's value while tracing is off */
	bool is_off;
	bool is_cpu;     /* times are of each thread's CPU clock */
	bool is_frozen;  /* the program forbids reading the counter: it stands still */
	bool is_special; /* any of the three above: trace_clock_special() reads the clock */
	u64 frozen_at;   /* what the counter shows when it is frozen */
};
extern struct trace_clock trace_clock;

/* Chooses the clock and how to read it, before the process's first event. */
void trace_clock_begin(struct trace_area *area);
/* Stops the clock, or lets it run on; by one thread at a time. */
void trace_clock_stop(void);
void trace_clock_go_on(void);
/* In a child of fork, whose thread has another clock. */
void trace_clock_forget(void);
/* Before the program forbids reading the counter (PR_SET_TSC), and after it allows it again. */
void trace_clock_freeze(void);
void trace_clock_thaw(void);
/* The machine's counter, or its last value before reading it was forbidden. */
u64 trace_clock_counter(void);
/* The clock's time, where it is not simply the counter. */
u64 trace_clock_special(void);

/* The time of an event.  Never to be compared with another thread's. */
static inline u64 trace_now(void)
{
	return __builtin_expect(trace_clock.is_special, 0) ? trace_clock_special()
							   : ticks_now() - trace_clock.skipped;
}
