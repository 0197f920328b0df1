/*
 * trial - a few seconds of known work, recorded by this very fathom.
 */
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
	unsigned seconds;    /* about how long all of it takes */
	const char *trigger; /* as record has it: "auto" */
	const char *self;    /* the path of fathom */
};

struct trial {
	struct work_times truth;             /* of the run whose shares are looked at */
	uint64_t sampled_ns[WORK_FUNCTIONS]; /* what samples said of the same */
	uint64_t samples[WORK_FUNCTIONS];    /* how many they were */
	double due;                          /* samples: the CPU time over the period */
	uint64_t cpu_ns;                     /* of the recording, by the kernel */
	int64_t unexplained_ns;              /* of that */
	bool has_unexplained;
	bool is_timer, is_copied; /* the trigger that was used */
	/* Of one sample: its trap, where that was measured, and its handler. */
	uint64_t trap_ns, handler_ns;
	uint64_t cost_ns;         /* what the recording says that sampling took */
	struct slowdown slowdown; /* measured in turn; 0 pairs: not */
};

/* 0, or a negative errno and a sentence: no recording could be made or read. */
int trial_run(const struct trial_options *options, struct trial *out_trial, struct error *err);
/* What is to be said of it. */
void trial_check(const struct trial_options *options, const struct trial *trial,
		 struct checks *checks);
