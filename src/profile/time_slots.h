/*
 * time_slots - when a profile's samples were taken: their time, in slots of equal length.
 *
 * Beside the weights, of which these are the part that has a time; only where it was asked for.
 * There are never more rows than SLOT_ROWS_MAX: slots that stand side by side are joined until there
 * are no more, and when one is left, there are no slots.
 */
#pragma once
#include <stdint.h>
#include <stddef.h>

#include "base/table.h"
#include "profile/ids.h"

#define TIME_SLOTS_MAX 240 /* to begin with, at most; a multiple of 16 */
#define TIME_SLOT_LEAST_NS \
	20000000ULL /* shorter ones hold too few samples, unless there are 16 only */
#define SLOT_ROWS_MAX 400000

struct slot_row {
	struct stack_id stack;
	struct thread_id thread;
	uint32_t state; /* enum thread_state */
	uint32_t slot;  /* from 0, the start of the recording */
	uint64_t ns;
	uint64_t samples;
};

/* Zero-initialized: there are none. */
struct time_slots {
	struct slot_row
		*rows; /* each (slot, stack, thread, state) once, in order of appearance */
	size_t count, capacity;
	uint32_t slot_count;
	uint64_t slot_ns; /* of the clock on the wall */
	struct table index;
};

/* Empties them, for a recording of that length. */
void time_slots_begin(struct time_slots *slots, uint64_t wall_ns);
/* time_ns: since the start.  slot need not be set. */
void time_slots_add(struct time_slots *slots, uint64_t time_ns, const struct slot_row *added);
/* The same of a wait, which ends at time_ns: each slot gets what of it was then. */
void time_slots_add_wait(struct time_slots *slots, uint64_t time_ns,
			 const struct slot_row *added);
void time_slots_done(struct time_slots *slots);
