/*
 * call_costs - writes what tracing one call costs in a process: its agent's calibration,
 * corrected for the processor's speed while the program ran.
 *
 * A processor whose core is shared with another program, or another virtual machine, takes up
 * to twice as long for a call.  The agent measures the speed when it calibrates, and again
 * while the program runs (abi/trace.h).  Calibrated costs are multiplied by the ratio of the
 * two; the further it is from 1, the less certain they are.
 */
#pragma once
#include <stdint.h>

#include "abi/trace.h"
#include "record/recording.h"

struct recording_writer;

struct call_costs {
	uint32_t rows[RECORDING_UNCOUNTED +
		      TRACE_UNCOUNTED_COUNT]; /* of the recording; 0: none so far */
	uint64_t burst_count;                 /* at the last write */
};

/*
 * Writes the costs that have become known, and all again when the speed is known better.
 * Returns how many were left out because they are impossible.
 */
unsigned int call_costs_write(struct call_costs *costs, const struct trace_area *area,
			      double ns_per_tick, uint32_t process_row,
			      struct recording_writer *writer);
