#include "profile/moments.h"

#include "base/memory.h"

void moments_begin(struct moments *moments, uint64_t wall_ns)
{
	moments_done(moments);
	const uint64_t fit = wall_ns / MOMENTS_SLOT_NS / 16 * 16;

	moments->slot_count = fit > MOMENTS_SLOTS ? MOMENTS_SLOTS
			      : fit > 16          ? (uint32_t)fit
						  : 16;
	moments->slot_ns = wall_ns / moments->slot_count + 1;
}

static void add_row(struct moments *moments, const struct moment *moment)
{
	bool is_new;
	uint64_t *place =
		table_at(&moments->index, (uint64_t)moment->slot << 32 | moment->thread.n,
			 (uint64_t)moment->state << 32 | moment->stack.n, &is_new);

	if (is_new) {
		moments->rows = array_grow(moments->rows, moments->count, &moments->capacity,
					   sizeof *moments->rows);
		moments->rows[moments->count] = *moment;
		*place = moments->count++;
		return;
	}
	moments->rows[*place].ns += moment->ns;
	moments->rows[*place].samples += moment->samples;
}

/* Two slots become one. */
static void join_slots(struct moments *moments)
{
	const size_t count = moments->count;

	table_done(&moments->index);
	moments->slot_count /= 2;
	moments->slot_ns *= 2;
	moments->count = 0;
	/* The rows behind those that are written are still to be read. */
	for (size_t i = 0; i < count; i++) {
		struct moment moment = moments->rows[i];

		moment.slot /= 2;
		add_row(moments, &moment);
	}
}

void moments_add(struct moments *moments, uint64_t time_ns, const struct moment *moment)
{
	struct moment row = *moment;

	if (moments->slot_count < 2)
		return;
	const uint64_t slot = time_ns / moments->slot_ns;

	/* What came after the end was taken at it. */
	row.slot = slot < moments->slot_count ? (uint32_t)slot : moments->slot_count - 1;
	add_row(moments, &row);
	while (moments->count > MOMENTS_MAX && moments->slot_count > 1)
		join_slots(moments);
	if (moments->slot_count < 2)
		moments_done(moments);
}

void moments_add_wait(struct moments *moments, uint64_t time_ns, const struct moment *moment)
{
	uint64_t at_ns = time_ns > moment->ns ? time_ns - moment->ns : 0;
	uint64_t left_ns = moment->ns;
	struct moment part = *moment;

	/* Slots may be joined, and be none in the end, while it is added. */
	for (part.samples = 0; moments->slot_count >= 2;) {
		const uint64_t room_ns = moments->slot_ns - at_ns % moments->slot_ns;

		if (left_ns <= room_ns || at_ns / moments->slot_ns + 1 >= moments->slot_count)
			break;
		part.ns = room_ns;
		moments_add(moments, at_ns, &part);
		at_ns += room_ns;
		left_ns -= room_ns;
	}
	part.ns = left_ns;
	part.samples = moment->samples;
	moments_add(moments, at_ns, &part);
}

void moments_done(struct moments *moments)
{
	table_done(&moments->index);
	freep(&moments->rows);
	*moments = (struct moments){ 0 };
}
