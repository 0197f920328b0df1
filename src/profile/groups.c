#include "profile/groups.h"

#include "profile/sum.h"

void group_add_weight(struct group *row, const struct weight *weight,
		      const struct call_times *times, bool *is_saturated)
{
	struct cost *cost = &row->cost;

	call_times_add(&cost->times, times, is_saturated);
	cost->raw_total_ns = cost->times.raw_ns;
	sum_add(&cost->self_ns, weight->ns, is_saturated);
	sum_add(&cost->self_samples, weight->samples, is_saturated);
	sum_add(&cost->calls, weight->calls, is_saturated);
	cost->primitive_calls = cost->calls;
	cost->total_ns = cost->self_ns;
	cost->total_samples = cost->self_samples;
}
