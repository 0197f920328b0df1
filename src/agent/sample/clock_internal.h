/*
 * clock_internal - what the clock files share: a thread's account of CPU time, the kernel's clocks.
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
	u64 boundary_ns;      /* by the thread's clock: when the last period ended */
	bool has_phase;       /* it is known where the event's periods end */
	bool is_new_rung;     /* the next sample is the first of another event */
	u32 rung;             /* of the event whose trap came last */
	u64 switches;         /* context switches, when the clock was last read */
	u64 waits;            /* those of them for which the thread waited */
	u64 system_ns;        /* the system time then */
	u64 switch_cost_ns;   /* the assumed cost of a switch then; 0: not read yet */
	u32 pauses;           /* ring_header.pauses when the account was begun */
	bool is_end_expected; /* clock_end_thread() will be called */
	u64 tick_ns;          /* the thread's clock at the last tick; 0: there was none */
	u64 tick_due_ns;      /* time of ticks behind system calls, in no sample so far */
	u64 weighed_ns;       /* the part of covered_ns that samples stand for */
	u64 read_ns; /* the thread's CPU clock as the last sample read it; 0: it did not */
};
extern __thread struct clock_account clock_own;

/*
 * The time that all threads' traps stand for, less the time that their samples and ends have
 * covered.  Begins with minus one period: the event had counted a part of the first before
 * sampling began.
 */
extern s64 clock_traps_ahead_ns;
/* Threads besides the first that began and have not ended: each may owe a part of a period. */
extern u32 clock_other_threads;

/* The period of the event whose trap came last. */
static inline u64 clock_period_ns(void)
{
	return own_ring.terms.period_ns << clock_own.rung;
}

/* User time, RUSAGE_SELF's or RUSAGE_THREAD's. */
u64 clock_user_ns(int who);
/*
 * Context switches of the thread, or of all threads that the process ever had; how many of them
 * were voluntary, because it waited; and their system time.
 */
u64 clock_switches(int who, u64 *out_waits, u64 *out_system_ns);
/*
 * Reads how often the thread was switched to, and reports that to the recorder, for it is a cost.
 * Returns its system time since the last such reading, as the kernel's ticks have it.
 */
u64 clock_read_switches(struct ring_header *ring);
/* The thread's CPU time in all, less the cost of the switches that were read. */
u64 clock_thread_ns(const struct ring_header *ring);
/* Begins the account anew for a new thread, for another recorder, or after a pause. */
void clock_look_around(struct ring_header *ring, u64 now_ns);

/* Covers `ns`.  counted_ns: the time that events have counted, by traps; 0 at a thread's end. */
static inline void clock_cover(u64 ns, u64 counted_ns)
{
	const s64 more_ns = (s64)(counted_ns - ns);

	if (more_ns != 0)
		__atomic_fetch_add(&clock_traps_ahead_ns, more_ns, __ATOMIC_RELAXED);
	clock_own.covered_ns += ns;
	clock_own.boundary_ns += ns;
}
