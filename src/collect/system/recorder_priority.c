#include "collect/system/recorder_priority.h"

#include <sched.h>
#include <sys/resource.h>

/*
 * Ten times the share of a thread at 0: the recorder needs only a few percent of a processor,
 * but without delay.
 */
#define BETTER_NICE (-10)

static int processors(void)
{
	cpu_set_t set;

	/*
	 * It fails where there are more processors than the set can hold: certainly more than
	 * one.
	 */
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
}

int recorder_priority_raise(void)
{
	/* On Linux 0 means the calling thread, not the process. */
	const int before = getpriority(PRIO_PROCESS, 0);

	if (before <= 0 && before > BETTER_NICE && processors() > 1)
		setpriority(PRIO_PROCESS, 0, BETTER_NICE);
	return before;
}

void recorder_priority_restore(int before)
{
	if (getpriority(PRIO_PROCESS, 0) < before)
		setpriority(PRIO_PROCESS, 0, before);
}
