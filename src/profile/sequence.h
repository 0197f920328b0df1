/*
 * sequence - when what was sampled, as coarsely as intervals.h needs it.
 *
 * The time of a recording is cut into slots in which equal parts of its time were sampled.  A
 * zero-initialized struct is empty: nothing is known of when.
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
	int64_t *times; /* of the rows, until sequence_close() */
	size_t time_capacity;
};

void sequence_add(struct sequence *sequence, uint32_t weight, int64_t time_ns, uint64_t ns);
/* Finds the slots, once all were added. */
void sequence_close(struct sequence *sequence);
void sequence_done(struct sequence *sequence);
