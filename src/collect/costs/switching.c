#include "collect/costs/switching.h"

#define DEAR_PERMILLE 20
/* A user notices this much at once: windows are short then. */
#define VERY_DEAR_PERMILLE 100
#define DEAR_WINDOWS       2
/*
 * With fewer in a window, switches do not matter.  On a loaded machine a server takes longer to
 * make as many, so the window is extended.
 */
#define LEAST_SWITCHES 100
#define WINDOW_NS      100000000ULL
#define LONG_WINDOW_NS (5 * WINDOW_NS)
/*
 * A process that creates a thread or process may wait for it, and wake it: at most so many
 * switches for each.
 */
#define SWITCHES_OF_BIRTH 8
/*
 * At most so many preemptions count for each wait: those by threads that the process itself has
 * woken.  A worker of gunicorn has seven, beside a client on two processors.
 */
#define PREEMPTIONS_OF_WAIT 8
/* Less CPU time in a window is not known exactly enough. */
#define LEAST_CPU_NS  1000000ULL
#define FELT_PERMILLE 50
/*
 * Twice as many switches as a measurement makes itself; fewer hardly change the report's
 * overhead.
 */
#define LEAST_MEASURED 5000
#define SAID_PERMILLE  10
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

/* The window's figures so far. */
struct window {
	uint64_t ns, waits, switches, births;
	double cpu_ns;
	uint32_t permille;
};

static struct window window_of(const struct switching *switching,
			       const struct switching_look *look)
{
	const uint64_t waits = since(look->waits, switching->waits);
	const uint64_t preemptions = since(look->preemptions, switching->preemptions);
	const uint64_t switches = waits + (preemptions / PREEMPTIONS_OF_WAIT < waits
						   ? preemptions
						   : waits * PREEMPTIONS_OF_WAIT);
	const double cpu_ns = (double)since(look->cpu_ns, switching->cpu_ns);

	return (struct window){
		.ns = since(look->time_ns, switching->time_ns),
		.waits = waits,
		.switches = switches,
		.births = since(look->births, switching->births),
		.cpu_ns = cpu_ns,
		.permille = permille_of((double)switches * (double)look->cost_ns, cpu_ns),
	};
}

static bool window_is_over(const struct window *window)
{
	if (window->switches < LEAST_SWITCHES || window->ns >= LONG_WINDOW_NS)
		return window->ns >= LONG_WINDOW_NS;
	return window->ns >= WINDOW_NS ||
	       (window->ns >= SWITCHING_WINDOW_NS && window->cpu_ns >= LEAST_CPU_NS &&
		window->permille >= VERY_DEAR_PERMILLE);
}

static uint32_t dear_permille(const struct switching *switching)
{
	return switching->dear_permille != 0 && switching->dear_permille < DEAR_PERMILLE
		       ? switching->dear_permille
		       : DEAR_PERMILLE;
}

static void window_end(struct switching *switching, const struct window *window)
{
	switching->per_second =
		window->cpu_ns > 0
			? (uint64_t)((double)window->switches * NS_PER_SECOND / window->cpu_ns)
			: 0;
	switching->permille = window->permille;
	switching->busy = permille_of(window->cpu_ns, (double)window->ns);
	switching->was_active = window->switches >= LEAST_SWITCHES;
	switching->is_noticed = false;
	if (!switching->has_gaps && window->switches >= LEAST_SWITCHES &&
	    window->waits / SWITCHES_OF_BIRTH > window->births &&
	    window->cpu_ns >= LEAST_CPU_NS && window->permille >= dear_permille(switching))
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
	const struct window window = window_of(switching, look);

	switching->dear_permille = look->dear_permille;
	if (!is_first && !window_is_over(&window))
		return false;
	if (!is_first)
		window_end(switching, &window);
	switching->time_ns = look->time_ns;
	switching->cpu_ns = look->cpu_ns;
	switching->waits = look->waits;
	switching->preemptions = look->preemptions;
	switching->births = look->births;
	return !is_first;
}

bool switching_begins(struct switching *switching, uint64_t waits)
{
	if (switching->is_noticed || switching->was_active || switching->time_ns == 0 ||
	    since(waits, switching->waits) < LEAST_SWITCHES)
		return false;
	switching->is_noticed = true;
	return true;
}

void switching_price(struct switching *switching, uint64_t taken_ns, uint64_t cost_ns)
{
	switching->permille = permille_of((double)switching->permille * (double)cost_ns,
					  1000.0 * (double)taken_ns);
	if (switching->permille >= VERY_DEAR_PERMILLE)
		return;
	/* The assumed cost may have made the windows too short for a decision. */
	switching->is_dear = false;
	switching->dear_windows = switching->permille >= dear_permille(switching);
}

bool switching_is_worth_measuring(uint64_t switches, uint64_t cpu_ns, uint64_t most_ns)
{
	return switches >= LEAST_MEASURED &&
	       permille_of((double)switches * (double)most_ns, (double)cpu_ns) >= SAID_PERMILLE;
}

bool switching_is_felt(uint32_t busy_permille)
{
	return busy_permille >= FELT_PERMILLE;
}
