/*
 * trigger_cost - measures the cost of one sampling signal on this machine, without its
 * handler's work.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In ns for each signal; 0: there were none, or it cannot be measured. */
struct trigger_costs {
	uint64_t event_ns; /* by a perf event */
	uint64_t timer_ns; /* by a timer of a CPU clock, which the kernel checks at its tick */
};

struct trigger_costs_terms {
	uint64_t period_ns; /* from one trap to the next */
	uint64_t event_samples, timer_samples;
	bool is_user_mode_only;
};

/*
 * Measures them in a child that works for some tens of milliseconds, with and without calls of
 * an empty handler.  Half of the work uses no memory; the other half reads a MiB in an order
 * that no cache predicts, so that lines which the trap evicts must be fetched again.  Real
 * programs are between the two.
 */
struct trigger_costs trigger_costs_measure(const struct trigger_costs_terms *terms);
