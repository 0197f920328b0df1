#include "collect/wall/ticks.h"

#include "base/random.h"

/* With a larger part, places late in a period would be more likely. */
#define LEAST_PART 8

void wall_ticks_begin(struct wall_ticks *ticks, uint64_t length_ns, uint64_t now_ns,
		      uint64_t random)
{
	*ticks = (struct wall_ticks){ .length_ns = length_ns,
				      .period_ns = now_ns,
				      .random = random };
}

uint64_t wall_ticks_next(struct wall_ticks *ticks, uint64_t periods, uint64_t now_ns)
{
	const uint64_t least_ns = now_ns + ticks->length_ns / LEAST_PART;
	const double place = (double)random_mixed(++ticks->random) / 0x1p64;
	uint64_t due_ns;

	ticks->period_ns += periods * ticks->length_ns;
	/* Periods that passed while there was no processor have no tick. */
	if (ticks->period_ns + ticks->length_ns <= now_ns)
		ticks->period_ns = now_ns;
	due_ns = ticks->period_ns + (uint64_t)((double)ticks->length_ns * place);
	return due_ns > least_ns ? due_ns : least_ns;
}
