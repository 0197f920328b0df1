/*
 * account - where the CPU time of a process image went, as far as samples do not show.
 *
 * The kernel's figure for the tree comes from an inherited counter.  For an image the
 * agent entered: what its process had burned when sampling began (start-up), what the
 * sampling events counted since, what the last sample of each thread covered.  What
 * was counted but not covered is the exit; what was covered but not sampled, where the event
 * counts user mode only, is kernel time.  Nothing is spread: what does not add up
 * stays in the recording's unexplained rest.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct recording_writer;
struct rusage;

struct account_terms {
	uint64_t session_start_ns;
	bool is_user_mode_only; /* the events count no system time */
	bool is_trace;          /* nothing was sampled: there are no figures */
	bool is_user_clock;     /* figures are user time */
	bool is_wall;           /* what no sample stands for is in rows already */
};

/* Its user and system time; with the user clock, its user time. */
uint64_t account_usage_ns(const struct rusage *usage, bool is_user_clock);
/* What all children that were waited for burned; with the user clock, of user time. */
uint64_t account_children_ns(bool is_user_clock);
/*
 * Raises what a switch is taken to cost while more is covered than the events have counted,
 * which cannot be (the agent's clock.c); and notes what they have counted and is not covered.
 * Samples were read up to round_ns, of CLOCK_MONOTONIC.
 */
void account_check_switches(struct image *image, uint64_t round_ns);
/*
 * What so many processes' clocks showed at their beginnings, and no counter counted: as much of
 * what was booked beyond the counters as they may explain.
 */
uint64_t account_uncounted_births(uint64_t booked_ns, uint64_t counted_ns, uint64_t births);
/*
 * Closes the account of an image whose last sample has been read, and writes its threads.
 * Its events are still open.  image->cpu_ns and is_accounted say what it burned, booked_ns what
 * of it is in the recording.
 */
void account_close(struct image *image, const struct account_terms *terms,
		   struct recording_writer *writer);
