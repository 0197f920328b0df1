/*
 * thread_turns - how a row's time varies, judged by its threads one after another as well.
 *
 * Several threads in phases as long as the recording look steady in sum, or even regular,
 * although each shows few phases. With the threads' timelines one after another these phases
 * are seen one by one, as those of a single thread are (autocorrelation.h). That is done where
 * the row comes or goes within a thread: threads that only differ from each other may do
 * different work, or each be in its first phase, so how the row would come again is unknown.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/autocorrelation.h"

enum { TURN_THREADS = 16 }; /* of more only these many are looked at */

/* In the timelines each thread has turn_slots slots of time. */
struct thread_turns {
	const float *part, *whole;
	const uint32_t *groups; /* by thread: equal where threads do the same work */
	size_t threads, turn_slots;
};

/* A row's autocorrelation: in_time is of all threads at once. */
struct autocorrelation thread_turns_autocorrelation(struct row_series *in_time,
						    const struct thread_turns *turns);
