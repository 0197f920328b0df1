/*
 * clock - weighs samples: the CPU time that each stands for.
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
 * Sets which of the recorder's events the calling thread's next sample is from: each has its own
 * period (abi/handshake.h).  The first sample of another event stands for all time that the
 * thread's clock shows since the sample before.
 */
void clock_set_rung(u32 rung);
/*
 * Weighs a timer's tick where events count no system time: the system time that it stands for, 0
 * where the tick was in user mode.
 */
struct sample_time clock_weigh_tick(struct ring_header *ring, u64 pc);
/* The thread's CPU clock as it was read to weigh the last sample; 0: it was not. */
u64 clock_weighed_at_ns(void);
/* The calling thread's ticks begin: the first stands for nothing. */
void clock_begin_ticks(void);
/* The same, but the first stands for the time from now on. */
void clock_begin_ticks_now(const struct ring_header *ring);
/* Whether samples stand for less than half of the thread's CPU time since its last tick. */
bool clock_is_mostly_unsampled(const struct ring_header *ring);
/* The calling thread's CPU time that its samples covered but none stands for: system time. */
u64 clock_unsampled_ns(u64 *out_covered_ns);
/*
 * At the calling thread's end: its CPU time since its last sample, or in all.  A sample that still
 * comes counts from here.
 */
struct sample_time clock_end_thread(struct ring_header *ring);
/* The calling thread begins, and clock_end_thread() will be called at its end. */
void clock_expect_end(void);
/* The process's CPU time so far, by the recording's clock (cpu or user). */
u64 clock_process_ns(const struct ring_header *ring);
/* Begins the calling thread's account: its CPU time until now is start-up. */
void clock_begin_thread(void);
