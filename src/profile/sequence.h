/*
 * sequence - when each weight was sampled, as coarsely as intervals.h needs it.
 *
 * A recording is divided into slots in which equal amounts of its time were sampled. A
 * zero-initialized struct is empty: no times are known.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { SERIES_SLOTS = 64 };

struct step {
	uint32_t weight; /* its index in the profile */
	uint32_t slot;   /* below SERIES_SLOTS */
	float ns;
};

struct sequence {
	struct step *rows;
	size_t count, capacity;
	int64_t *times; /* of the rows, only until sequence_close() */
	size_t time_capacity;
};

void sequence_add(struct sequence *sequence, uint32_t weight, int64_t time_ns, uint64_t ns);
/* Computes the slots, after all rows were added. */
void sequence_close(struct sequence *sequence);
void sequence_done(struct sequence *sequence);
