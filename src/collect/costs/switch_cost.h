/*
 * switch_cost - measures how much longer a context switch takes on this machine with our perf
 * events on the threads.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/system/child_measurement.h"

/*
 * The CPU time per switch, in ns, that a thread's CPU clock counts and a sampling event with
 * this period does not.  Measured in a child that sleeps and wakes a hundred times (some
 * milliseconds); 0 if it cannot be measured.
 */
uint64_t switch_cost_measure(uint64_t period_ns);

/*
 * How much longer one switch takes than without events, in ns; 0: no longer, or not measured.
 */
struct switch_costs {
	uint64_t tree_ns;     /* with what the whole tree inherits: counter and sideband */
	uint64_t all_ns;      /* with these and a sampling event */
	uint64_t siblings_ns; /* with all of them, between threads of one process */
	/*
	 * CPU time at a switch that the thread's CPU clock counts and a sampling event misses.
	 */
	uint64_t gap_ns;
};

struct switch_costs_terms {
	uint64_t period_ns;
	bool has_sideband;
	bool is_user_mode_only;
};

/* A measurement that runs. */
struct switch_costs_measuring {
	struct switch_costs_terms terms;
	struct child_measurement child;
};

/*
 * Begins to measure them in children that wake each other on one processor, without and with
 * events: their CPU time, so that other load matters little.  It takes 60 ms, and 250 ms beside
 * eight busy processes: agents' handshakes do not wait for it (docs/decisions/0034), so the
 * result is taken later.
 *
 * A sampler is expensive only where its period ends before the next scheduler tick: then the
 * kernel programs the machine's timer when the thread is switched in, and again when it is
 * switched out.  Both cases are measured, and weighted by how often the period's end is nearer
 * than the tick.
 */
void switch_costs_begin(struct switch_costs_measuring *measuring,
			const struct switch_costs_terms *terms);
/* False: not done yet; never with must_wait. */
bool switch_costs_take(struct switch_costs_measuring *measuring, bool must_wait,
		       struct switch_costs *out_costs);

/*
 * The extra cost, in ns, of the switches of a process of several threads whose events missed
 * missed_ns of its CPU time.  When the kernel switches between two threads of one process it
 * exchanges their events, which go on counting and miss nothing: so missed_ns shows how many of
 * the switches were to or from other processes.
 */
double switch_costs_of_siblings(const struct switch_costs *costs, uint64_t switches,
				uint64_t missed_ns);

/*
 * The probability, at a random moment, that the rest of a period is shorter than the rest of a
 * tick.
 */
double switch_cost_nearer(uint64_t period_ns, uint64_t tick_ns);
