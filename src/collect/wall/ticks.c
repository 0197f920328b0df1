#include "collect/wall/ticks.h"

/* 0.618 of 2^32. */
#define GOLDEN_RATIO 2654435769U

void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns)
{
	*ticks = (struct wall_ticks){ .length_ns = length_ns, .period_ns = now_ns };
}

uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns)
{
	const uint64_t least_ns = now_ns + ticks->length_ns / 2;
	uint64_t due_ns;

	ticks->place += GOLDEN_RATIO;
	ticks->period_ns += periods * ticks->length_ns;
	/* Periods that passed while there was no processor have no tick. */
	if (ticks->period_ns + ticks->length_ns <= now_ns)
		ticks->period_ns = now_ns;
	due_ns =
		ticks->period_ns + (uint64_t)((double)ticks->length_ns * ticks->place / 0x1p32);
	return due_ns > least_ns ? due_ns : least_ns;
}
