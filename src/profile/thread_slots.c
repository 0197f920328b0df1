#include "profile/thread_slots.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "profile/profile.h"
#include "profile/thread_kinds.h"

#define SHARE_LEAST 0.01 /* of the whole time */

struct group_key {
	uint32_t process, kind; /* kind 0: a main thread */
};

static struct group_key key_of(const struct profile *profile, const struct thread_kinds *kinds,
			       struct thread_id id)
{
	const struct thread *thread = profile_get_thread(profile, id);
	const struct process *process = profile_get_process(profile, thread->process);
	const bool is_main = process && process->pid == thread->tid;

	return (struct group_key){ thread->process.n,
				   is_main ? 0 : thread_kinds_of(kinds, id) };
}

/* The first slot with the same key. */
static uint32_t group_of(const struct group_key *keys, uint32_t slot)
{
	for (uint32_t i = 0; i < slot; i++)
		if (keys[i].process == keys[slot].process && keys[i].kind == keys[slot].kind)
			return i;
	return slot;
}

void thread_slots_find(const struct profile *profile, const double *times,
		       struct thread_slots *out)
{
	CLEANUP(thread_kinds_freep) struct thread_kinds *kinds = thread_kinds_new(profile);
	const size_t count = profile_thread_count(profile) + 1;
	struct group_key keys[TURN_THREADS];
	double sum = 0;

	*out = (struct thread_slots){ .of_thread = xzalloc(count * sizeof *out->of_thread) };
	for (size_t i = 0; i < count; i++)
		sum += times[i];
	for (uint32_t i = 0; i < count; i++) {
		out->of_thread[i] = NO_SLOT;
		if (i == 0 || out->count == TURN_THREADS || times[i] <= 0 ||
		    times[i] < SHARE_LEAST * sum)
			continue;
		const uint32_t slot = (uint32_t)out->count++;

		out->of_thread[i] = slot;
		keys[slot] = key_of(profile, kinds, (struct thread_id){ i });
		out->groups[slot] = group_of(keys, slot);
	}
}

void thread_slots_done(struct thread_slots *slots)
{
	freep(&slots->of_thread);
	*slots = (struct thread_slots){ .count = 0 };
}
