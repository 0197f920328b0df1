/*
 * compare - two sets of recordings of the same work, before and after a change: what became slower.
 *
 * With two runs and more on each side what differs from run to run is what a change has to exceed
 * (Welch's t-test).  With one, only how sure its samples are is known, and nothing of other runs.
 * Of rows that are called changed one in twenty is not, however many there are (Benjamini and
 * Hochberg).  Times are a run's mean.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/compare_terms.h"

enum verdict {
	VERDICT_CANNOT_TELL,
	VERDICT_SLOWER,
	VERDICT_FASTER,
	VERDICT_UNCHANGED, /* within the margin, with 95 % certainty */
	VERDICT_NEW,
	VERDICT_GONE,
	VERDICT_COUNT,
};
/* "cannot_tell", "slower", … */
const char *verdict_name(enum verdict verdict);

struct change {
	double before_ns, after_ns;
	double low_ns, high_ns; /* of the difference, with 95 % certainty */
	double chance;          /* of a difference as large as this one without a cause */
	enum verdict verdict;
};

struct compared {
	const char *name, *file; /* file: or NULL */
	uint32_t line;           /* 0: unknown */
	const char *module;      /* path, or NULL */
	const char *former_name; /* where it was renamed; else NULL */
	struct change self, total;
	double calls_before, calls_after; /* of traces */
	double samples, total_samples;    /* of all runs together */
};

struct comparison {
	struct compared *rows; /* by how much self changed, those with a verdict first */
	size_t count;
	struct change whole;
	size_t runs[2];
	bool is_over_runs; /* of two and more on each side */
	bool is_trace;
	double margin; /* 0.05: 5 % */
	/* The smallest change of the whole, in ns, that would have been seen in four of five
	 * comparisons; 0: not known. */
	double least_seen_ns;
	size_t counts[VERDICT_COUNT]; /* of rows, by the verdict on self */
};

/* Release with comparison_done(). */
void comparison_make(const struct compare_terms *terms, struct comparison *out);
void comparison_done(struct comparison *comparison);
/* Of any times of two and more runs on each side, as the whole of a comparison is judged. */
struct change change_over_runs(const double *const times[2], const size_t counts[2],
			       double margin);
/* The change over what was before; INFINITY where that is 0. */
double change_share(const struct change *change);
