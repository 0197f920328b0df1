/*
 * account - accounts for the CPU time of a process image that no sample stands for.
 *
 * The CPU time of the whole tree comes from an inherited counter.  An image with an agent has
 * three figures: the CPU time of its process when sampling began (start-up), the count of its
 * sampling events since, and the time that each thread's samples cover.  Time that is counted
 * but not covered is the exit; time that is covered but not sampled, where events count user
 * mode only, is kernel time.  No difference is spread over other rows: it stays in the
 * recording's unexplained rest.
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
	bool is_wall;           /* time without samples is in rows already */
};

/* User plus system time in ns; with the user clock, user time alone. */
uint64_t account_usage_ns(const struct rusage *usage, bool is_user_clock);
/* The same for all children that were waited for. */
uint64_t account_children_ns(bool is_user_clock);
/*
 * Raises the agent's estimate of a switch's cost (its clock.c) if samples cover more than the
 * events have counted, which cannot be; and stores the counted time that is not covered
 * (unsampled_ns).  Samples were read up to round_ns (CLOCK_MONOTONIC).
 */
void account_check_switches(struct image *image, uint64_t round_ns);
/*
 * CPU time that the clocks of so many new processes showed at their start, and no counter
 * counted: the excess of booked_ns over counted_ns, as far as starts can explain it.
 */
uint64_t account_uncounted_births(uint64_t booked_ns, uint64_t counted_ns, uint64_t births);
/*
 * Closes the account of an image whose last sample has been read, and writes its threads.  Its
 * events must still be open.  Sets image->cpu_ns and is_accounted, its CPU time, and booked_ns,
 * the part of it that is in the recording.
 */
void account_close(struct image *image, const struct account_terms *terms,
		   struct recording_writer *writer);
