#include "collect/switching.h"

#define DEAR_PERMILLE 20
#define DEAR_WINDOWS  2
/*
 * Fewer in a window are no matter of switches.  Beside others that want the processor it takes a
 * server longer to make as many.
 */
#define LEAST_SWITCHES 100
#define LONG_WINDOW_NS (5 * SWITCHING_WINDOW_NS)
/* A creator waits for each that it creates, and wakes it: so many switches for one at the most. */
#define SWITCHES_OF_BIRTH 8
/* Less CPU time in a window is known too coarsely. */
#define LEAST_CPU_NS  1000000ULL
#define FELT_PERMILLE 50
/* Twice as many as a measurement makes; and by fewer the report's figure hardly changes. */
#define LEAST_MEASURED 5000
#define TOLD_PERMILLE  10
#define NS_PER_SECOND  1e9

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint32_t permille_of(double part, double whole)
{
	const double permille = whole > 0 ? 1000 * part / whole : 0;

	return permille < 1e6 ? (uint32_t)permille : 1000000;
}

static void window_end(struct switching *switching, const struct switching_look *look)
{
	const uint64_t switches = since(look->switches, switching->switches);
	const uint64_t births = since(look->births, switching->births);
	const double cpu_ns = (double)since(look->cpu_ns, switching->cpu_ns);
	const double wall_ns = (double)since(look->time_ns, switching->time_ns);

	switching->per_second =
		cpu_ns > 0 ? (uint64_t)((double)switches * NS_PER_SECOND / cpu_ns) : 0;
	switching->permille = permille_of((double)switches * (double)look->cost_ns, cpu_ns);
	switching->busy = permille_of(cpu_ns, wall_ns);
	if (!switching->has_gaps && switches >= LEAST_SWITCHES &&
	    switches / SWITCHES_OF_BIRTH > births && cpu_ns >= LEAST_CPU_NS &&
	    switching->permille >= DEAR_PERMILLE)
		switching->dear_windows++;
	else
		switching->dear_windows = 0;
	switching->has_gaps = false;
	if (switching->dear_windows >= DEAR_WINDOWS)
		switching->is_dear = true;
}

bool switching_take(struct switching *switching, const struct switching_look *look)
{
	const bool is_first = switching->time_ns == 0;
	const uint64_t gone_ns = since(look->time_ns, switching->time_ns);
	const bool is_enough = since(look->switches, switching->switches) >= LEAST_SWITCHES;

	if (!is_first && gone_ns < (is_enough ? SWITCHING_WINDOW_NS : LONG_WINDOW_NS))
		return false;
	if (!is_first)
		window_end(switching, look);
	switching->time_ns = look->time_ns;
	switching->cpu_ns = look->cpu_ns;
	switching->switches = look->switches;
	switching->births = look->births;
	return !is_first;
}

void switching_price(struct switching *switching, uint64_t taken_ns, uint64_t cost_ns)
{
	switching->permille = permille_of((double)switching->permille * (double)cost_ns,
					  1000.0 * (double)taken_ns);
	if (switching->permille >= DEAR_PERMILLE)
		return;
	switching->is_dear = false;
	switching->dear_windows = 0;
}

bool switching_is_worth_measuring(uint64_t switches, uint64_t cpu_ns, uint64_t most_ns)
{
	return switches >= LEAST_MEASURED &&
	       permille_of((double)switches * (double)most_ns, (double)cpu_ns) >= TOLD_PERMILLE;
}

bool switching_is_felt(uint32_t busy_permille)
{
	return busy_permille >= FELT_PERMILLE;
}
