/*
 * overhead - chooses a process's sampling rate from a budget of overhead: pure computation, no
 * I/O.
 *
 * A process has four events (rungs), with a period and 2, 4 and 8 times that (abi/handshake.h),
 * of which one is on.  A sample costs one trap, measured on this machine, one handler, timed by
 * the agent, and what that displaces in the caches; each context switch has a cost as well,
 * whatever the rate, and so has the agent's start.  What a process took beyond its budget it
 * makes up for later.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct overhead_terms {
	double share;        /* of the CPU time: 0.01 is 1 % */
	uint64_t trap_ns;    /* one trap's cost without its handler */
	uint64_t handler_ns; /* one handler's average cost, over all processes so far */
};

/* A process's totals since its beginning, read at one moment. */
struct overhead_look {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;
	uint64_t samples;     /* handlers that ran */
	uint64_t handler_ns;  /* CPU time of these */
	uint64_t switches_ns; /* extra cost of its context switches */
	uint64_t start_ns;    /* CPU time of its agent's start */
};

/* The reading with which a window began.  Zero-initialized: none so far. */
struct overhead_window {
	struct overhead_look begin;
	bool is_begun;
};

/* The rate of the first rung, 1 to 10,000 Hz: what keeps the budget with quick handlers. */
uint32_t overhead_first_rate(const struct overhead_terms *terms);
/* The rung to begin with, if the first rung has this period. */
unsigned int overhead_first_rung(const struct overhead_terms *terms, uint64_t period_ns);
/*
 * Takes a reading.  True when a window has ended with it: then *out_rung is the rung to switch
 * on, and *out_share the share of CPU time that the window's samples and switches took.
 */
bool overhead_take(struct overhead_window *window, const struct overhead_look *look,
		   const struct overhead_terms *terms, unsigned int rung,
		   unsigned int *out_rung, double *out_share);
