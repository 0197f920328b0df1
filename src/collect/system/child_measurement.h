/*
 * child_measurement - a measurement in a child of ours, whose signals and threads are its own.
 *
 * It has none of our descriptors but the standard ones: an agent is to notice when the recorder
 * closes its connection.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One that has begun. */
struct child_measurement {
	pid_t pid; /* 0: there is none */
	uint64_t *shared;
};

/* Begins to run measure there; false if it cannot be run. */
bool child_measurement_begin(struct child_measurement *child,
			     uint64_t (*measure)(const void *context), const void *context);
/*
 * What it returned, once it has, or when it is waited for; 0 if it ended without.  False: it has
 * not.  After true, or for one that was not begun, there is nothing to be taken.
 */
bool child_measurement_take(struct child_measurement *child, bool must_wait,
			    uint64_t *out_result);

/* Runs measure there and waits for it: what it returned, 0 if it cannot be run. */
uint64_t child_measurement_run(uint64_t (*measure)(const void *context), const void *context);
