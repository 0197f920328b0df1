/*
 * mechanisms - which there are, in the order in which each step calls them.
 *
 * Our signal's handler comes first, and timers that have it called last; a pause that was asked
 * for before the program began stops what trace has begun.
 */
#include <stddef.h>

#include "agent/core/mechanism.h"

extern const struct mechanism signals_mechanism, interpreters_mechanism, launch_mechanism,
	sample_mechanism, trace_mechanism, control_mechanism, timers_mechanism;

const struct mechanism *const mechanisms[] = {
	&signals_mechanism, &interpreters_mechanism, &launch_mechanism, &sample_mechanism,
	&trace_mechanism,   &control_mechanism,      &timers_mechanism, NULL,
};
