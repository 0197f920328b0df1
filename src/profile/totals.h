/*
 * totals - self and total time of each function.
 *
 * A function's total is the time during which it was on the stack: each weight counts once,
 * however often the function is on it by recursion, mutual recursion or inlining.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/call_times.h"
#include "profile/intervals.h"

struct filter;
struct profile;

struct cost {
	uint64_t self_ns, total_ns;
	uint64_t self_samples, total_samples;
	uint64_t calls;           /* of a trace */
	uint64_t primitive_calls; /* without recursive ones, direct or indirect */
	struct call_times times;  /* of its calls; of samples, raw_ns is self_ns */
	uint64_t raw_total_ns;
	struct intervals intervals; /* of self_ns and total_ns, valid if has_intervals */
	bool has_intervals;
};

struct totals {
	struct cost *rows;
	size_t count;
	uint64_t ns, samples; /* of everything: the sum of every row's self */
	bool is_saturated;    /* a sum exceeded 64 bits and was kept at the largest value */
};

/* rows[id.n - 1] of each function.  filter may be NULL.  Release with totals_done(). */
void totals_by_function(const struct profile *profile, const struct filter *filter,
			struct totals *out);
/*
 * The same over any grouping of frames: row_of_frame[id.n - 1], from 0 to row_count - 1, is a
 * frame's row.
 */
void totals_by_row(const struct profile *profile, const struct filter *filter,
		   const uint32_t *row_of_frame, size_t row_count, struct totals *out);
void totals_done(struct totals *totals);
