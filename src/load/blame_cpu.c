/*
 * blame_cpu - divides the time that a thread waited for a CPU among the threads that ran then.
 */
#include "load/blame_sums.h"
#include "load/timelines.h"
#include "profile/profile.h"

/*
 * Sums the time that other threads ran during the slice; whole_ns > 0: adds each one's part of
 * it.
 */
static uint64_t each_running(struct blame_sums *sums, const struct timeline *waiter,
			     const struct slice *slice, uint64_t whole_ns)
{
	const struct timelines *timelines = sums->timelines;
	const int64_t begin = slice->end_ns - slice->ns;
	uint64_t sum = 0;

	for (size_t i = timelines_find_running(timelines, begin); i < timelines->running_count;
	     i++) {
		const struct running *running = &timelines->running[i];
		const int64_t from = running->end_ns - running->ns;
		const int64_t common =
			(running->end_ns < slice->end_ns ? running->end_ns : slice->end_ns) -
			(from > begin ? from : begin);

		if (running->end_ns > slice->end_ns + timelines->longest_running_ns)
			break;
		if (common <= 0 || running->thread.n == waiter->thread.n)
			continue;
		sum += (uint64_t)common;
		if (whole_ns > 0)
			blame_sums_add(sums,
				       &(struct blame){ .state = THREAD_STATE_RUNNABLE,
							.waiter = waiter->thread,
							.owner = running->thread,
							.waiter_stack = slice->stack,
							.owner_stack = running->stack },
				       (uint64_t)((double)slice->ns * (double)common /
						  (double)whole_ns));
	}
	return sum;
}

void blame_add_runnable(struct blame_sums *sums, const struct timeline *waiter)
{
	for (size_t i = 0; i < waiter->count; i++) {
		const struct slice *slice = &waiter->slices[i];
		uint64_t whole_ns;

		if (slice->state != THREAD_STATE_RUNNABLE || slice->ns <= 0)
			continue;
		whole_ns = each_running(sums, waiter, slice, 0);
		if (whole_ns == 0)
			blame_sums_add_unowned(sums, waiter, slice);
		else
			each_running(sums, waiter, slice, whole_ns);
	}
}
