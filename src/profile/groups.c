#include "profile/groups.h"

#include "base/memory.h"

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

void groups_find_intervals(struct groups *groups, const struct interval_terms *terms)
{
	CLEANUP(freep)
	struct intervals *rows = xzalloc((terms->row_count + 1) * sizeof *rows);

	if (profile_is_trace(terms->profile))
		return;
	intervals_find(terms, rows);
	for (size_t i = 0; i < groups->count; i++) {
		groups->rows[i].cost.intervals = rows[i];
		groups->rows[i].cost.has_intervals = true;
	}
}

void groups_find_thread_intervals(struct groups *groups, const struct profile *profile,
				  const struct filter *filter, const uint32_t *row_of_thread)
{
	const size_t threads = profile_thread_count(profile) + 1;
	CLEANUP(freep) uint32_t *places = xzalloc(threads * sizeof *places);
	CLEANUP(freep) uint32_t *parents = xzalloc((groups->count + 1) * sizeof *parents);
	CLEANUP(freep) uint32_t *rows = xzalloc((groups->count + 1) * sizeof *rows);

	for (size_t i = 0; i < threads; i++)
		places[i] = row_of_thread[i] + 1;
	for (uint32_t i = 0; i < groups->count; i++)
		rows[i + 1] = i;
	groups_find_intervals(groups, &(struct interval_terms){
					      .profile = profile,
					      .filter = filter,
					      .place_of_thread = places,
					      .parents = parents,
					      .rows = rows,
					      .place_count = groups->count + 1,
					      .row_count = groups->count,
				      });
}
