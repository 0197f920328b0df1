/*
 * thread_slots - the threads with most of the time, numbered, and which of them do the same work as
 * far as their names say.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/sequence.h" /* SERIES_SLOTS */

#define NO_SLOT UINT32_MAX

struct profile;

struct thread_slots {
	uint32_t *of_thread; /* by thread id; NO_SLOT: it has too little time */
	/* By slot: equal for threads of one process and kind (thread_kinds.h); a main thread is
	 * alone. */
	uint32_t groups[SERIES_SLOTS];
	size_t count;
};

/* times are by thread id. */
void thread_slots_find(const struct profile *profile, const double *times,
		       struct thread_slots *out);
void thread_slots_done(struct thread_slots *slots);
