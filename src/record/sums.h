/*
 * sums - weights summed by thread, stack and state, in memory.
 *
 * A zero-initialized `struct sums` is an empty one.
 */
#pragma once
#include <stdbool.h>

#include "base/table.h"
#include "record/recording.h"

/* The number of endings in a recording; enum walk_status has fewer. */
#define SUMS_ENDINGS 256

struct sums {
	struct table index;
	struct recording_sum *rows; /* in order of first appearance */
	size_t count, capacity;
	uint64_t samples;
	uint64_t endings[SUMS_ENDINGS];
};

/* Adds a row to the sum for its thread, stack and state; false if the sum overflows. */
bool sums_add(struct sums *sums, const struct recording_sum *row);
void sums_clear(struct sums *sums);
void sums_done(struct sums *sums);
