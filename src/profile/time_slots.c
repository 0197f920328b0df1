#include "profile/time_slots.h"

#include "base/memory.h"

void time_slots_begin(struct time_slots *slots, uint64_t wall_ns)
{
	time_slots_done(slots);
	const uint64_t fit = wall_ns / TIME_SLOT_LEAST_NS / 16 * 16;

	slots->slot_count = fit > TIME_SLOTS_MAX ? TIME_SLOTS_MAX
			    : fit > 16           ? (uint32_t)fit
						 : 16;
	slots->slot_ns = wall_ns / slots->slot_count + 1;
}

static void add_row(struct time_slots *slots, const struct slot_row *added)
{
	bool is_new;
	uint64_t *place = table_at(&slots->index, (uint64_t)added->slot << 32 | added->thread.n,
				   (uint64_t)added->state << 32 | added->stack.n, &is_new);

	if (is_new) {
		slots->rows = array_grow(slots->rows, slots->count, &slots->capacity,
					 sizeof *slots->rows);
		slots->rows[slots->count] = *added;
		*place = slots->count++;
		return;
	}
	slots->rows[*place].ns += added->ns;
	slots->rows[*place].samples += added->samples;
}

/* Halves the number of slots by joining pairs. */
static void join_slots(struct time_slots *slots)
{
	const size_t count = slots->count;

	table_done(&slots->index);
	slots->slot_count /= 2;
	slots->slot_ns *= 2;
	slots->count = 0;
	/* Rows not yet read are beyond those already written. */
	for (size_t i = 0; i < count; i++) {
		struct slot_row row = slots->rows[i];

		row.slot /= 2;
		add_row(slots, &row);
	}
}

void time_slots_add(struct time_slots *slots, uint64_t time_ns, const struct slot_row *added)
{
	struct slot_row row = *added;

	if (slots->slot_count < 2)
		return;
	const uint64_t slot = time_ns / slots->slot_ns;

	/* A sample after the end counts in the last slot. */
	row.slot = slot < slots->slot_count ? (uint32_t)slot : slots->slot_count - 1;
	add_row(slots, &row);
	while (slots->count > SLOT_ROWS_MAX && slots->slot_count > 1)
		join_slots(slots);
	if (slots->slot_count < 2)
		time_slots_done(slots);
}

void time_slots_add_wait(struct time_slots *slots, uint64_t time_ns,
			 const struct slot_row *added)
{
	uint64_t at_ns = time_ns > added->ns ? time_ns - added->ns : 0;
	uint64_t left_ns = added->ns;
	struct slot_row part = *added;

	/* Slots may be joined in this loop, or all be dropped. */
	for (part.samples = 0; slots->slot_count >= 2;) {
		const uint64_t room_ns = slots->slot_ns - at_ns % slots->slot_ns;

		if (left_ns <= room_ns || at_ns / slots->slot_ns + 1 >= slots->slot_count)
			break;
		part.ns = room_ns;
		time_slots_add(slots, at_ns, &part);
		at_ns += room_ns;
		left_ns -= room_ns;
	}
	part.ns = left_ns;
	part.samples = added->samples;
	time_slots_add(slots, at_ns, &part);
}

void time_slots_done(struct time_slots *slots)
{
	table_done(&slots->index);
	freep(&slots->rows);
	*slots = (struct time_slots){ 0 };
}
