/*
 * correction - takes the cost of tracing out of the times of traced calls.
 *
 * A recording has times as measured, and the cost of a call of each kind: in its own time and
 * in its caller's.  From a row's time the cost of its own calls, of its callees' calls, and of
 * events in it that made no call is subtracted.  The result is never below zero; what could not
 * be subtracted is summed up (clipped_ns).  Pure computation.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "record/recording.h"

/* A row of calls, and its corrected times. */
struct call_row {
	struct recording_calls calls;
	uint32_t process;      /* of the recording */
	uint32_t parent_stack; /* of the recording; 0: it is outermost */

	int64_t ns;             /* its corrected self time */
	int64_t uncertainty_ns; /* by which that may be off, either way */
	/* Of one call with its callees; RECORDING_UNKNOWN as in calls. */
	int64_t shortest_ns, longest_ns;
};

struct correction {
	uint64_t raw_ns;         /* measured time of all rows */
	uint64_t removed_ns;     /* the part of raw_ns that was removed */
	uint64_t uncertainty_ns; /* of what was removed */
	uint64_t clipped_ns;     /* cost beyond the time that rows had */
	uint64_t left_out_ns;    /* in no row: searching for callees and naming them */
	uint64_t unknown_calls;  /* of kinds with unknown cost: left as measured */
	double slowdown;         /* recording_cost.pace_permille, the mean; 0: not known */
};

/*
 * Rows may be in any order, but a stack's number is higher than its parent's.  With keeps_raw
 * the rows keep their measured times, and the sums are what would have been removed.
 */
void correction_make(struct call_row *rows, size_t count, const struct recording_cost *costs,
		     size_t cost_count, bool keeps_raw, struct correction *out);
