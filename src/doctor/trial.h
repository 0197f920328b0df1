/* trial - records a few seconds of known work with this very fathom. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doctor/slowdown.h"
#include "doctor/work.h"

struct checks;
struct error;

struct trial_options {
	uint32_t rate_hz;
	unsigned seconds;    /* approximate length of the whole trial */
	const char *trigger; /* as for record: "auto" */
	const char *self;    /* the path of fathom */
};

struct trial {
	struct work_times truth;             /* of the run whose shares are compared */
	uint64_t sampled_ns[WORK_FUNCTIONS]; /* the same by samples */
	uint64_t samples[WORK_FUNCTIONS];    /* numbers of samples */
	double due;                          /* expected samples: CPU time / period */
	uint64_t cpu_ns;                     /* of the recording, by the kernel */
	int64_t unexplained_ns;              /* part of cpu_ns */
	bool has_unexplained;
	bool is_timer, is_copied; /* the trigger that was used */
	/* Cost of one sample: its trap, if measured, and its handler. */
	uint64_t trap_ns, handler_ns;
	uint64_t cost_ns;         /* the recording's figure for the cost of sampling */
	struct slowdown slowdown; /* measured by alternating runs; 0 pairs: not measured */
};

/* 0, or a negative errno and a sentence: recording or reading failed. */
int trial_run(const struct trial_options *options, struct trial *out_trial, struct error *err);
/* Adds the results as checks. */
void trial_check(const struct trial_options *options, const struct trial *trial,
		 struct checks *checks);
