/*
 * mechanisms_record - what the agent of `fathom record` is made of, in the order in which each
 * step calls it.
 *
 * Our signal's handler comes first, and timers that have it called last; a pause that was asked
 * for before the program began stops what sample has begun.
 */
#include <stddef.h>

#include "agent/control/control.h"
#include "agent/core/mechanism.h"

extern const struct mechanism core_mechanism, signals_mechanism, interpreters_mechanism,
	exec_mechanism, sample_mechanism, control_mechanism, timers_mechanism,
	kernel_ticks_mechanism;

const struct mechanism *const mechanisms[] = {
	&core_mechanism,   &signals_mechanism,      &interpreters_mechanism,
	&exec_mechanism,   &sample_mechanism,       &control_mechanism,
	&timers_mechanism, &kernel_ticks_mechanism, NULL,
};

CONTROL_RUBY_EXTENSION("libfathom-agent-record");
