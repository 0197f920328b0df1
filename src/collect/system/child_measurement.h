/*
 * child_measurement - runs a measurement in a forked child: its signals and threads do not
 * touch the recorder.
 *
 * The child closes all descriptors but the standard ones: a copy of an agent's connection would
 * hide from the agent that the recorder has closed it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A measurement that has begun. */
struct child_measurement {
	pid_t pid; /* 0: none is running */
	uint64_t *shared;
};

/* Begins to run measure() in a child; false if it cannot be run. */
bool child_measurement_begin(struct child_measurement *child,
			     uint64_t (*measure)(const void *context), const void *context);
/*
 * True once the measurement has ended, with what measure() returned, or 0 if the child died
 * before.  False: it still runs, which is never so with must_wait.  Afterwards, and for a
 * measurement that was not begun: true, with 0.
 */
bool child_measurement_take(struct child_measurement *child, bool must_wait,
			    uint64_t *out_result);

/* Runs measure() in a child, waits, and returns its result; 0 if it cannot be run. */
uint64_t child_measurement_run(uint64_t (*measure)(const void *context), const void *context);
