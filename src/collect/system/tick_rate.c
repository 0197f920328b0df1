#include "collect/system/tick_rate.h"

#include <time.h>

#include "abi/ticks.h"
#include "base/monotonic.h"

#define APART_NS 5000000
#define TRIES    16

/* Both clocks at one moment. */
struct reading {
	uint64_t ns, ticks;
};

/* Of several readings, the one that took the shortest time. */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = ticks_now();
		const uint64_t ns = monotonic_ns();
		const uint64_t after = ticks_now();

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best = (struct reading){ .ns = ns, .ticks = before + shortest / 2 };
	}
	return best;
}

uint64_t tick_rate_measure(void)
{
	const struct timespec apart = { .tv_nsec = APART_NS };
	const struct reading first = read_both();
	struct reading last;

	do {
		nanosleep(&apart, NULL);
		last = read_both();
	} while (last.ns - first.ns < APART_NS);
	return (uint64_t)((double)(last.ticks - first.ticks) / (double)(last.ns - first.ns) *
			  4294967296.0);
}
