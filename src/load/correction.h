/*
 * correction - what measuring took, out of the times of traced calls.
 *
 * A recording has times as they were measured, and what a call of each kind costs: in its own
 * time and in its caller's.  A row's time is corrected by its own calls' share, that of its
 * callees' calls, and that of events in it that made no call.  What is left is never below
 * zero: what would be is counted.  Pure.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "record/recording.h"

/* A row of calls, and what becomes of it. */
struct call_row {
	struct recording_calls calls;
	uint32_t process;      /* of the recording */
	uint32_t parent_stack; /* of the recording; 0: it is outermost */

	int64_t ns;             /* its self time */
	int64_t uncertainty_ns; /* by which that may be off, either way */
	/* Of its calls with what they call; RECORDING_UNKNOWN as in calls. */
	int64_t shortest_ns, longest_ns;
};

struct correction {
	uint64_t raw_ns;         /* of all rows */
	uint64_t removed_ns;     /* of it */
	uint64_t uncertainty_ns; /* of what was removed */
	uint64_t clipped_ns;     /* that would have been removed from rows that had less */
	uint64_t left_out_ns;    /* in no row: searching for callees and naming them */
	uint64_t unknown_calls;  /* of kinds whose cost is not known: as they were measured */
	double slowdown;         /* recording_cost.pace_permille, the mean; 0: not known */
};

/*
 * Rows may stand in any order, but a stack's number is higher than its parent's.  With
 * keeps_raw the rows' times stay what was measured, and the sums say what would have been
 * removed.
 */
void correction_make(struct call_row *rows, size_t count, const struct recording_cost *costs,
		     size_t cost_count, bool keeps_raw, struct correction *out);
