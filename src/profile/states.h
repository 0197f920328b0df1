/* states - sums threads' time by state, on the wall clock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct filter;
struct profile_info;

struct state_sums {
	uint64_t ns[THREAD_STATE_COUNT];
	uint64_t samples[THREAD_STATE_COUNT];
	uint64_t whole_ns;
	size_t threads; /* with any of this time */
	bool is_saturated;
};

/* filter may be NULL. */
void states_sum(const struct profile *profile, const struct filter *filter,
		struct state_sums *out);
/* The states with any time, longest first; returns how many. */
size_t states_order(const struct state_sums *sums,
		    enum thread_state out_order[THREAD_STATE_COUNT]);
/* Whether its weights are samples of the wall clock: threads' lives, including waits. */
bool profile_is_wall(const struct profile *profile);
