#include "collect/maps_pace.h"

/* So many times as long as a reading took there is none. */
#define PAUSE_FACTOR 19

void maps_pace_change(struct maps_pace *pace, uint64_t round_ns, uint64_t time_ns)
{
	if (pace->changed_ns == 0 && pace->round_ns != round_ns)
		pace->changed_ns = time_ns != 0 ? time_ns : 1;
}

bool maps_pace_begin(struct maps_pace *pace, uint64_t round_ns, uint64_t now_ns,
		     uint64_t *out_changed_ns)
{
	if (pace->changed_ns == 0 || pace->round_ns == round_ns || now_ns < pace->due_ns)
		return false;
	*out_changed_ns = pace->changed_ns;
	pace->changed_ns = 0;
	pace->round_ns = round_ns;
	return true;
}

void maps_pace_end(struct maps_pace *pace, uint64_t began_ns, uint64_t now_ns)
{
	pace->due_ns = now_ns + (now_ns - began_ns) * PAUSE_FACTOR;
}
