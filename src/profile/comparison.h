/* comparison - the result of comparing two sets of recordings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/change.h"
#include "profile/common_factor.h"

struct compared {
	const char *name, *file; /* file: may be NULL */
	uint32_t line;           /* 0: unknown */
	const char *module;      /* path, or NULL */
	const char *former_name; /* if it was renamed; else NULL */
	struct change self, total;
	double calls_before, calls_after; /* of traces */
	double samples, total_samples;    /* of all runs together */
};

struct comparison {
	struct compared *rows; /* by change of self, those with a verdict first */
	size_t count;
	struct change whole;
	struct common_factor common;
	size_t runs[2];
	bool is_over_runs; /* there are two runs or more on each side */
	bool is_trace;
	double margin; /* 0.05: 5 % */
	/*
	 * The smallest change of the whole, in ns, that four of five comparisons would detect;
	 * 0: unknown.
	 */
	double least_seen_ns;
	size_t counts[VERDICT_COUNT]; /* of rows, by the verdict on self */
};
