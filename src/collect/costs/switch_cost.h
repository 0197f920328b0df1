/*
 * switch_cost - what a switch to and from a thread costs on this machine with perf events of
 * ours on it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/system/child_measurement.h"

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
	uint64_t siblings_ns; /* by all of them, from a thread to another of its process */
	/* Of a thread's CPU time by its clock, at a switch, what a sampling event misses. */
	uint64_t gap_ns;
};

struct switch_costs_terms {
	uint64_t period_ns;
	bool has_sideband;
	bool is_user_mode_only;
};

/* They are being measured. */
struct switch_costs_measuring {
	struct switch_costs_terms terms;
	struct child_measurement child;
};

/*
 * Measures them in children that wake each other on one processor, without and with events: CPU
 * time, so that what else runs there matters little.  It takes 60 ms, and with a load of eight
 * 250: programs that say hello do not wait for it (docs/decisions/0034), so what it gives is
 * taken later.
 *
 * A sampler costs little but where its period ends before the next tick: then the kernel sets the
 * machine's timer when the thread begins to run, and again when it ceases to.  So both are
 * measured, and weighted by how often a period's end is nearer.
 */
void switch_costs_begin(struct switch_costs_measuring *measuring,
			const struct switch_costs_terms *terms);
/* False: not yet, which is never so if it must be waited for. */
bool switch_costs_take(struct switch_costs_measuring *measuring, bool must_wait,
		       struct switch_costs *out_costs);

/*
 * What so many switches of a process of several threads took longer, whose events missed so much of
 * its time.  Where the kernel switches from one thread to another of the same process it exchanges
 * their events, which go on counting: what was missed says how many of the switches were others.
 */
double switch_costs_of_siblings(const struct switch_costs *costs, uint64_t switches,
				uint64_t missed_ns);

/* How often the rest of a period is shorter than the rest of a tick, of any moments: 0 to 1. */
double switch_cost_nearer(uint64_t period_ns, uint64_t tick_ns);
