#include "collect/wall/ticks.h"

#include "base/random.h"

/* Two ticks are not closer than this part of a period, also if the first was late. */
#define LEAST_PART 8

void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns,
		      uint64_t random)
{
	*ticks = (struct wall_ticks){ .length_ns = length_ns,
				      .due_ns = now_ns,
				      .random = random };
}

uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns)
{
	const double part = (double)random_mixed(++ticks->random) / 0x1p64 - 0.5;
	const uint64_t distance_ns = ticks->length_ns * periods +
				     (uint64_t)(int64_t)(part * (double)ticks->length_ns);

	ticks->due_ns += distance_ns;
	/* Ticks that passed while there was no processor are not made up for. */
	if (ticks->due_ns < now_ns + ticks->length_ns / LEAST_PART)
		ticks->due_ns = now_ns + distance_ns;
	return ticks->due_ns;
}
