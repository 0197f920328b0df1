/*
 * trigger_cost - what one trap costs on this machine, apart from what the handler does.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In ns a trap; 0: there were none, or it cannot be measured. */
struct trigger_costs {
	uint64_t event_ns; /* of a perf event */
	uint64_t
		timer_ns; /* of a timer of a CPU clock, which the kernel looks at in its tick */
};

struct trigger_costs_terms {
	uint64_t period_ns; /* from one trap to the next */
	uint64_t event_samples, timer_samples;
	bool is_user_mode_only;
};

/*
 * Measures them in a child that works for some tens of milliseconds with and without an empty
 * handler being called.  Half of the work uses no memory, and a MiB of it in an order that no
 * cache foresees, which the trap has the processor fetch anew: programs are between the two.
 */
struct trigger_costs trigger_costs_measure(const struct trigger_costs_terms *terms);
