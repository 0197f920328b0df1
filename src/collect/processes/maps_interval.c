#include "collect/processes/maps_interval.h"

/* The pause after a reading, in times of its duration. */
#define PAUSE_FACTOR 19

void maps_interval_change(struct maps_interval *interval, uint64_t round_ns, uint64_t time_ns)
{
	if (interval->changed_ns == 0 && interval->round_ns != round_ns)
		interval->changed_ns = time_ns != 0 ? time_ns : 1;
}

bool maps_interval_begin(struct maps_interval *interval, uint64_t round_ns, uint64_t now_ns,
			 uint64_t *out_changed_ns)
{
	if (interval->changed_ns == 0 || interval->round_ns == round_ns ||
	    now_ns < interval->due_ns)
		return false;
	*out_changed_ns = interval->changed_ns;
	interval->changed_ns = 0;
	interval->round_ns = round_ns;
	return true;
}

void maps_interval_end(struct maps_interval *interval, uint64_t began_ns, uint64_t now_ns)
{
	interval->due_ns = now_ns + (now_ns - began_ns) * PAUSE_FACTOR;
}
