/*
 * call_costs - what measuring a call costs in a process, as its agent calibrated it, at the
 * speed that the processor had while the program ran.
 *
 * A processor whose core is shared with another program, or with another machine, takes up to
 * twice as long for a call as when it is not.  The agent says how quick it was when it calibrated
 * and how quick in the course of the program (abi/trace.h).  Where that was another speed, costs are
 * so many times what was calibrated; they are the less certain the further one is from the other.
 */
#pragma once
#include <stdint.h>

#include "abi/trace.h"
#include "record/recording.h"

struct recording_writer;

struct call_costs {
	uint32_t rows[RECORDING_UNCOUNTED +
		      TRACE_UNCOUNTED_COUNT]; /* of the recording; 0: none so far */
	uint64_t burst_count;                 /* as they were written last */
};

/*
 * Writes those that have become known, and all again when the speed is known better.  Returns how
 * many were left out since no call costs that.
 */
unsigned int call_costs_write(struct call_costs *costs, const struct trace_area *area,
			      double ns_per_tick, uint32_t process_row,
			      struct recording_writer *writer);
