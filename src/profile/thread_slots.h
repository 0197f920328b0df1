/*
 * thread_slots - numbers the threads with most of the time, and groups those that do the same
 * work, judging by their names.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/thread_turns.h" /* TURN_THREADS */

#define NO_SLOT UINT32_MAX

struct profile;

struct thread_slots {
	uint32_t *of_thread; /* by thread id; NO_SLOT: it has too little time */
	/*
	 * By slot: equal for threads of one process and kind (thread_kinds.h); a main thread is
	 * a group alone.
	 */
	uint32_t groups[TURN_THREADS];
	size_t count;
};

/* times are by thread id. */
void thread_slots_find(const struct profile *profile, const double *times,
		       struct thread_slots *out);
void thread_slots_done(struct thread_slots *slots);
