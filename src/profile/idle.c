#include "profile/idle.h"

#include "base/memory.h"
#include "base/table.h"
#include "profile/group_waits.h"
#include "profile/groups.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/sum.h"

/* Per cent of a thread's life in one state with one stack. */
enum { AT_ONE_PLACE = 95 };

struct life {
	uint64_t ns, longest_ns;
	struct stack_id longest;
};

static bool is_first(const struct profile *profile, uint32_t id)
{
	const struct thread *thread = profile_get_thread(profile, (struct thread_id){ id });
	const struct process *process = profile_get_process(profile, thread->process);

	return process && process->parent.n == 0 && process->pid == thread->tid;
}

/* By thread id; the caller's to free. */
static struct life *read_lives(const struct profile *profile)
{
	const size_t threads = profile_thread_count(profile);
	struct life *lives = xzalloc((threads + 1) * sizeof *lives);

	for (size_t i = 0; profile_is_wall(profile) && i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		struct life *life = &lives[weight->thread.n];

		life->ns += weight->ns;
		if (weight->state > THREAD_STATE_RUNNABLE && weight->samples > 0 &&
		    weight->ns > life->longest_ns) {
			life->longest_ns = weight->ns;
			life->longest = weight->stack;
		}
	}
	for (uint32_t i = 1; i <= threads; i++)
		if ((double)lives[i].longest_ns * 100 < (double)lives[i].ns * AT_ONE_PLACE ||
		    is_first(profile, i))
			lives[i].longest.n = 0;
	return lives;
}

struct idle idle_find(const struct profile *profile)
{
	CLEANUP(freep) struct life *lives = read_lives(profile);
	struct idle idle = { 0 };

	for (size_t i = 1; i <= profile_thread_count(profile); i++) {
		if (lives[i].longest.n == 0)
			continue;
		idle.threads++;
		idle.ns += lives[i].ns;
	}
	return idle;
}

struct stack_id *idle_places(const struct profile *profile)
{
	const size_t threads = profile_thread_count(profile);
	CLEANUP(freep) struct life *lives = read_lives(profile);
	struct stack_id *places = xzalloc((threads + 1) * sizeof *places);

	for (size_t i = 1; i <= threads; i++)
		places[i] = lives[i].longest;
	return places;
}

/* What the one has is the other's as well. */
static void merge(struct groups *groups, struct group *into, const struct group *from)
{
	struct group_waits *waits = &groups->waits[into->waits - groups->waits];

	sum_add(&into->cost.self_ns, from->cost.self_ns, &groups->is_saturated);
	sum_add(&into->cost.total_ns, from->cost.total_ns, &groups->is_saturated);
	sum_add(&into->cost.self_samples, from->cost.self_samples, &groups->is_saturated);
	sum_add(&into->cost.total_samples, from->cost.total_samples, &groups->is_saturated);
	for (int state = 0; state < THREAD_STATE_COUNT; state++)
		sum_add(&waits->ns[state], from->waits->ns[state], &groups->is_saturated);
	sum_add(&waits->longest_ns, from->waits->longest_ns, &groups->is_saturated);
	into->merged += from->merged;
}

void idle_merge_rows(struct groups *groups, const struct profile *profile)
{
	CLEANUP(freep) struct stack_id *places = idle_places(profile);
	struct table rows = { 0 };
	size_t kept = 0;

	for (size_t i = 0; groups->waits && i < groups->count; i++) {
		const struct group row = groups->rows[i];
		const uint32_t place = places[row.thread.n].n;
		uint64_t *first = place ? table_at(&rows, row.process.n, place, NULL) : NULL;

		groups->rows[kept] = row;
		groups->rows[kept].merged = place != 0;
		if (first && *first)
			merge(groups, &groups->rows[*first - 1], &groups->rows[kept]);
		else
			kept++;
		if (first && !*first)
			*first = kept;
	}
	if (groups->waits)
		groups->count = kept;
	table_done(&rows);
}
