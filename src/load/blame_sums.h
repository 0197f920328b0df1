/*
 * blame_sums - sums the waits of all threads by waiter, owner, their stacks and state, for
 * blame.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/blame.h"

struct profile;
struct slice;
struct timeline;
struct timelines;

struct blame_sums {
	const struct profile *profile;
	const struct timelines *timelines;
	struct table index; /* to a row's number + 1 */
	struct blame *rows;
	size_t count, capacity;
};

/* Adds to the row of the same threads, stacks and state; a new one is the last row. */
void blame_sums_add(struct blame_sums *sums, const struct blame *row, uint64_t ns);
/* Adds a slice whose owner is not known. */
void blame_sums_add_unowned(struct blame_sums *sums, const struct timeline *waiter,
			    const struct slice *slice);
void blame_sums_done(struct blame_sums *sums);

/* Add one thread's waits for what others own (blame_waits.c), and for a CPU (blame_cpu.c). */
void blame_add_waits(struct blame_sums *sums, const struct timeline *waiter);
void blame_add_runnable(struct blame_sums *sums, const struct timeline *waiter);
