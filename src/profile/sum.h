/*
 * sum - sums of nanoseconds and samples that never wrap around.
 *
 * Weights come from files. An overflowing sum stays at the largest value and sets the flag.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

static inline void sum_add(uint64_t *sum, uint64_t value, bool *is_saturated)
{
	if (__builtin_add_overflow(*sum, value, sum)) {
		*sum = UINT64_MAX;
		*is_saturated = true;
	}
}
