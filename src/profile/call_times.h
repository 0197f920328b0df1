/* call_times - durations of traced calls, besides their count and self time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "profile/sum.h"

struct call_times {
	uint64_t raw_ns; /* their self time as measured, including the cost of measuring */
	uint64_t uncertainty_ns; /* plus or minus, of the self time without that cost */
	/* Of a call including its callees; UINT64_MAX and 0: no call has ended. */
	uint64_t shortest_ns, longest_ns;
};

#define CALL_TIMES_NONE ((struct call_times){ .shortest_ns = UINT64_MAX })

static inline void call_times_add(struct call_times *sum, const struct call_times *times,
				  bool *is_saturated)
{
	sum_add(&sum->raw_ns, times->raw_ns, is_saturated);
	sum_add(&sum->uncertainty_ns, times->uncertainty_ns, is_saturated);
	if (times->shortest_ns < sum->shortest_ns)
		sum->shortest_ns = times->shortest_ns;
	if (times->longest_ns > sum->longest_ns)
		sum->longest_ns = times->longest_ns;
}
