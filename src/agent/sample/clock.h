/*
 * clock - the weight of a sample: the time it stands for.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct ring_header;

/* The weight of a sample taken now, and the thread's covered CPU time after it. */
struct sample_time {
	u64 time_ns;
	u64 weight_ns;
	u64 covered_ns;
};
struct sample_time clock_weigh(struct ring_header *ring, u32 overruns, u64 pc);
/*
 * Which of the recorder's events the calling thread's next sample is of: it has its own period
 * (abi/handshake.h).  The first of another stands for all that the thread's clock shows since the
 * sample before.
 */
void clock_set_rung(u32 rung);
/*
 * The same of a timer's tick where events count no system time: what it stands for of that, 0
 * where the tick was in user mode.
 */
struct sample_time clock_weigh_tick(struct ring_header *ring, u64 pc);
/* The thread's CPU clock as the last sample's weighing read it; 0: it did not. */
u64 clock_weighed_at_ns(void);
/* The calling thread's ticks begin: its next stands for nothing. */
void clock_begin_ticks(void);
/* The same, but its next stands for the time from now on. */
void clock_begin_ticks_now(const struct ring_header *ring);
/* Whether samples stand for less than half of what the thread has burned since its last tick. */
bool clock_is_mostly_unsampled(const struct ring_header *ring);
/* What the calling thread's samples have covered, and of that what none stands for: system time. */
u64 clock_unsampled_ns(u64 *out_covered_ns);
/*
 * What the calling thread, which ends, has burned since its last sample, or in all.  A sample
 * that comes later counts from here.
 */
struct sample_time clock_end_thread(struct ring_header *ring);
/* The calling thread begins, and clock_end_thread() will be called at its end. */
void clock_expect_end(void);
/* What the process burned so far, on the recording's clock. */
u64 clock_process_ns(const struct ring_header *ring);
/* Begins the calling thread's account: what it burned until now is start-up. */
void clock_begin_thread(void);
