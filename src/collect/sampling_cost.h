/*
 * sampling_cost - what sampling cost a session's programs: handlers, triggers, and what each
 * switch between threads takes longer.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct recording_writer;
struct ring_costs;

struct sampling_cost {
	uint64_t handler_ticks, handler_samples, handler_timed, early_traps, switches;
};

/* The image's share, at its end. */
void sampling_cost_add(struct sampling_cost *cost, const struct ring_costs *costs);

struct sampling_cost_terms {
	uint64_t wall_ns,
		ticks; /* of the session: how long a tick of the machine's counter is */
	uint64_t switch_cost_ns;
	bool has_sigtrap, is_user_mode_only;
};

void sampling_cost_tell(const struct sampling_cost *cost,
			const struct sampling_cost_terms *terms,
			struct recording_writer *writer);
