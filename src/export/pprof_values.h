/*
 * pprof_values - the values of a pprof sample: a count, a time, and on the wall clock the time
 * in each group of states.
 *
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;
struct weight;

/* pprof shows one value at a time, so rare states share the last one. */
enum { PPROF_VALUES_MAX = 2 + 7 };

struct pprof_value_type {
	const char *type, *unit;
};

/* How many values each sample has; the second is the time. */
size_t pprof_values_types(const struct profile *profile,
			  struct pprof_value_type out_types[PPROF_VALUES_MAX]);
void pprof_values_of(const struct profile *profile, const struct weight *weight,
		     int64_t out_values[PPROF_VALUES_MAX]);
