/*
 * mechanisms_trace - what the agent of `fathom trace` is made of, in the order in which each step
 * calls it.
 *
 * A pause that was asked for before the program began stops what trace has begun.
 */
#include <stddef.h>

#include "agent/control/control.h"
#include "agent/core/mechanism.h"

extern const struct mechanism core_mechanism, interpreters_mechanism, exec_mechanism,
	trace_mechanism, control_mechanism;

const struct mechanism *const mechanisms[] = {
	&core_mechanism,  &interpreters_mechanism, &exec_mechanism,
	&trace_mechanism, &control_mechanism,      NULL,
};

CONTROL_RUBY_EXTENSION("libfathom-agent-trace");
