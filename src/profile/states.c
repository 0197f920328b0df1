#include "profile/states.h"

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/sum.h"

bool profile_is_wall(const struct profile *profile)
{
	return profile_get_info(profile)->is_wall;
}

void states_sum(const struct profile *profile, const struct filter *filter,
		struct state_sums *out)
{
	const size_t threads = profile_thread_count(profile);
	CLEANUP(freep) bool *has_any = xzalloc(threads + 1);

	*out = (struct state_sums){ .is_saturated = profile_is_saturated(profile) };
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (!filter_keeps(filter, weight))
			continue;
		sum_add(&out->ns[weight->state], weight->ns, &out->is_saturated);
		sum_add(&out->samples[weight->state], weight->samples, &out->is_saturated);
		sum_add(&out->whole_ns, weight->ns, &out->is_saturated);
		if (weight->thread.n <= threads)
			has_any[weight->thread.n] = true;
	}
	for (size_t i = 1; i <= threads; i++)
		out->threads += has_any[i];
}

size_t states_order(const struct state_sums *sums,
		    enum thread_state out_order[THREAD_STATE_COUNT])
{
	size_t count = 0;

	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		size_t at = count;

		if (sums->ns[state] == 0)
			continue;
		for (; at > 0 && sums->ns[out_order[at - 1]] < sums->ns[state]; at--)
			out_order[at] = out_order[at - 1];
		out_order[at] = (enum thread_state)state;
		count++;
	}
	return count;
}
