/*
 * switch_cost - what a switch to and from a thread costs on this machine with perf events of
 * ours on it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * The part that the thread's CPU clock shows and the sampling event does not.  Measures it in a
 * child that sleeps and wakes a few hundred times (some milliseconds): ns per switch at this
 * sampling period; 0 if it cannot be measured.
 */
uint64_t switch_cost_measure(uint64_t period_ns);

/* What a switch takes longer than without any event, in ns; 0: nothing, or not measured. */
struct switch_costs {
	uint64_t tree_ns; /* by what the whole tree inherits: the counter and the sideband */
	uint64_t all_ns;  /* by those and a sampling event */
};

struct switch_costs_terms {
	uint64_t period_ns;
	bool has_sideband;
	bool is_user_mode_only;
};

/*
 * Measures them in children that wake each other on one processor, without and with events: CPU
 * time, so that what else runs there matters little.  Some ten milliseconds.
 *
 * A sampler costs little but where its period ends before the next tick: then the kernel sets the
 * machine's timer when the thread begins to run, and again when it ceases to.  So both are
 * measured, and weighted by how often a period's end is nearer.
 */
struct switch_costs switch_costs_measure(const struct switch_costs_terms *terms);

/* How often the rest of a period is shorter than the rest of a tick, of any moments: 0 to 1. */
double switch_cost_nearer(uint64_t period_ns, uint64_t tick_ns);
