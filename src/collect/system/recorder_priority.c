#include "collect/system/recorder_priority.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Ten times the share of a thread at 0: the recorder needs only a few percent of a processor,
 * but without delay.
 */
#define BETTER_NICE (-10)

/*
 * From Linux 6.12 on a thread that wakes gets a processor at once if its time slice is shorter than
 * that of the thread that runs there, by default 0.7 to 2.8 ms; else it may wait until that one
 * ends.  A slice that is shorter than what the recorder does at once would have it preempted in
 * turn.  Older kernels ignore it.
 */
#define SHORT_SLICE_NS 600000
#define USUAL_SLICE_NS 0

/*
 * struct sched_attr of linux/sched/types.h, its first version: that header cannot be included beside
 * <sched.h>, which has the struct itself from glibc 2.41 on.
 */
struct slice_terms {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* For the calling thread; keeps its nice value. */
static void set_slice(uint64_t slice_ns)
{
	const struct slice_terms terms = { .size = sizeof terms,
					   .policy = SCHED_OTHER,
					   .nice = getpriority(PRIO_PROCESS, 0),
					   .runtime_ns = slice_ns };

	if (sched_getscheduler(0) == SCHED_OTHER)
		syscall(SYS_sched_setattr, 0, &terms, 0);
}

static int processors(void)
{
	cpu_set_t set;

	/*
	 * It fails where there are more processors than the set can hold: certainly more than
	 * one.
	 */
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
}

int recorder_priority_raise(bool is_prompt)
{
	/* On Linux 0 means the calling thread, not the process. */
	const int before = getpriority(PRIO_PROCESS, 0);

	if (before > 0 || processors() == 1)
		return before;
	if (before > BETTER_NICE)
		setpriority(PRIO_PROCESS, 0, BETTER_NICE);
	if (is_prompt)
		set_slice(SHORT_SLICE_NS);
	return before;
}

void recorder_priority_restore(int before)
{
	if (getpriority(PRIO_PROCESS, 0) < before)
		setpriority(PRIO_PROCESS, 0, before);
	set_slice(USUAL_SLICE_NS);
}
