/*
 * pprof_values - the values of a sample in pprof's words: how often, how long, and on the wall clock
 * how long in each group of states.
 *
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;
struct weight;

/* pprof shows one value at a time, so states that few threads are in share the last. */
enum { PPROF_VALUES_MAX = 2 + 7 };

struct pprof_value_type {
	const char *type, *unit;
};

/* How many values each sample has; the second is the time. */
size_t pprof_values_types(const struct profile *profile,
			  struct pprof_value_type out_types[PPROF_VALUES_MAX]);
void pprof_values_of(const struct profile *profile, const struct weight *weight,
		     int64_t out_values[PPROF_VALUES_MAX]);
