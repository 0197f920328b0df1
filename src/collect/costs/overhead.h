/*
 * overhead - a budget in place of a rate: which of a process's events is to be on, by figures
 * alone.
 *
 * A process has events of a period, and of 2, 4 and 8 times it (abi/handshake.h), one of them on.
 * What a sample costs is the trap, measured on the machine, and the handler, as the agent times
 * it; each switch between threads costs as well, whatever the rate.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct overhead_terms {
	double share;        /* of the CPU time: 0.01 is 1 % */
	uint64_t trap_ns;    /* one trap's cost without its handler */
	uint64_t handler_ns; /* one handler's, as far as is known of all processes */
};

/* What is known of a process at a moment, since its beginning. */
struct overhead_look {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;
	uint64_t samples;     /* handlers that ran */
	uint64_t handler_ns;  /* what they took */
	uint64_t switches_ns; /* what its switches took longer */
};

/* The last look: when a window began.  Zero-initialized: none so far. */
struct overhead_window {
	struct overhead_look begin;
	bool is_begun;
};

/* The rate that keeps the budget if a handler takes what handlers do at first; 1 to 10,000. */
uint32_t overhead_first_rate(const struct overhead_terms *terms);
/* With which rung to begin, of those of this period. */
unsigned int overhead_first_rung(const struct overhead_terms *terms, uint64_t period_ns);
/*
 * Takes a look.  True when a window has ended, with the rung that is to be on and the share of the
 * CPU time that the window's samples and switches took.
 */
bool overhead_take(struct overhead_window *window, const struct overhead_look *look,
		   const struct overhead_terms *terms, unsigned int rung,
		   unsigned int *out_rung, double *out_share);
