/*
 * states - what threads did with their time, on the wall clock.
 */
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
	size_t threads; /* that have any of it */
	bool is_saturated;
};

/* filter may be NULL. */
void states_sum(const struct profile *profile, const struct filter *filter,
		struct state_sums *out);
/* The states that there is any of, the longest first; how many. */
size_t states_order(const struct state_sums *sums,
		    enum thread_state out_order[THREAD_STATE_COUNT]);
/* Whether its weights are of the wall clock, of samples: threads' lives, waits and all. */
bool profile_is_wall(const struct profile *profile);
