/*
 * time_slots - the times of a profile's samples, in slots of equal length.
 *
 * Kept in addition to the weights, of which these are the part with a time; only on request. At
 * most SLOT_ROWS_MAX rows are kept: neighbouring slots are joined until rows fit, and when only
 * one slot remains, all are dropped.
 */
#pragma once
#include <stdint.h>
#include <stddef.h>

#include "base/table.h"
#include "profile/ids.h"

#define TIME_SLOTS_MAX 240 /* initially, at most; a multiple of 16 */
#define TIME_SLOT_LEAST_NS \
	20000000ULL /* shorter ones hold too few samples; ignored below 16 slots */
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
	uint64_t slot_ns; /* of wall-clock time */
	struct table index;
};

/* Clears them for a recording of that length. */
void time_slots_begin(struct time_slots *slots, uint64_t wall_ns);
/* time_ns: since the start. added->slot is ignored. */
void time_slots_add(struct time_slots *slots, uint64_t time_ns, const struct slot_row *added);
/* Likewise for a wait that ends at time_ns: divided among the slots it covers. */
void time_slots_add_wait(struct time_slots *slots, uint64_t time_ns,
			 const struct slot_row *added);
void time_slots_done(struct time_slots *slots);
