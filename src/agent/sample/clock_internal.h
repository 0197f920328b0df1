/*
 * clock_internal - what the files of clock share: a thread's account, and the kernel's clocks.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "abi/types.h"
#include "agent/core/own_ring.h"

/* The calling thread's account. */
struct clock_account {
	u32 since_clock_read;
	u64 covered_ns;       /* CPU time since sampling began that samples stand for */
	u64 boundary_ns;      /* of the thread's clock, where the last period ended */
	bool has_phase;       /* it is known where the event's periods end */
	bool is_new_rung;     /* the next sample is the first of another event */
	u32 rung;             /* of the event whose trap came last */
	u64 switches;         /* as the clock was last read */
	u64 waits;            /* of those, that it made itself */
	u64 system_ns;        /* and its system time */
	u64 switch_cost_ns;   /* and what a switch was taken to cost; 0: not read yet */
	u32 pauses;           /* of the ring, when the thread's account was begun */
	bool is_end_expected; /* its time is booked at its end */
	u64 tick_ns;          /* the thread's clock at the last tick; 0: there was none */
	u64 tick_due_ns;      /* of ticks behind system calls, in no sample so far */
	u64 weighed_ns;       /* that samples stand for, of what they covered */
	u64 read_ns; /* the thread's CPU clock as the last sample read it; 0: it did not */
};
extern __thread struct clock_account clock_own;

/*
 * What the traps of all threads stand for, less what their samples and ends have covered.  The
 * event had counted a part of the first period before sampling began.
 */
extern s64 clock_traps_ahead_ns;
/* Threads besides the first that began and have not ended: each may owe a part of a period. */
extern u32 clock_other_threads;

/* Of the event whose trap came last. */
static inline u64 clock_period_ns(void)
{
	return own_ring.terms.period_ns << clock_own.rung;
}

/* Of CLOCK_MONOTONIC: no system call wherever the machine's counter can be trusted (the vDSO). */
u64 clock_monotonic_ns(void);
/* User time, RUSAGE_SELF's or RUSAGE_THREAD's. */
u64 clock_user_ns(int who);
/*
 * Switches to a thread, or to all threads there ever were; how many of them since it waited, and
 * not since others ran in its place; and their system time.
 */
u64 clock_switches(int who, u64 *out_waits, u64 *out_system_ns);
/*
 * How often the thread was switched to, which it also reports to the recorder: it is a cost.  Returns
 * its system time since this was asked last, as the kernel's ticks have it.
 */
u64 clock_read_switches(struct ring_header *ring);
/* The thread's time since it was born, without what switches cost as far as they are known. */
u64 clock_thread_ns(const struct ring_header *ring);
/* Begins the account anew for a new thread, another recorder, or behind a pause. */
void clock_look_around(struct ring_header *ring, u64 now_ns);

/* counted_ns: what the traps say that the events have counted; 0 at a thread's end. */
static inline void clock_cover(u64 ns, u64 counted_ns)
{
	const s64 more_ns = (s64)(counted_ns - ns);

	if (more_ns != 0)
		__atomic_fetch_add(&clock_traps_ahead_ns, more_ns, __ATOMIC_RELAXED);
	clock_own.covered_ns += ns;
	clock_own.boundary_ns += ns;
}
