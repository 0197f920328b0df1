#include "profile/by_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/filter.h"
#include "profile/group_waits.h"
#include "profile/groups.h"
#include "profile/sum.h"

/* Arrays are indexed by process id; 0 is for time of no known process. */
struct programs {
	const struct profile *profile;
	uint32_t *row_of_process;
	bool *is_sampled; /* with the filter ignored */
	bool *is_kept;    /* has something that passes the filter */
	struct groups *groups;
	struct waits_builder *waits;
};

/*
 * Finds a row for each name. Strings are interned in the profile: equal names are equal
 * pointers.
 */
static void find_rows(struct programs *programs)
{
	const size_t count = profile_process_count(programs->profile);
	struct groups *groups = programs->groups;
	struct table rows = { 0 };

	groups->rows = xzalloc((count + 1) * sizeof *groups->rows);
	groups->rows[groups->count++].name = "[no process]";
	for (uint32_t i = 1; i <= count; i++) {
		const char *name =
			profile_get_process(programs->profile, (struct process_id){ i })->name;
		bool is_new;
		uint64_t *row = table_at(&rows, 0, (uint64_t)(uintptr_t)name, &is_new);

		if (is_new) {
			*row = groups->count;
			groups->rows[groups->count++].name = name;
		}
		programs->row_of_process[i] = (uint32_t)*row;
	}
	table_done(&rows);
	for (size_t i = 0; i < groups->count; i++)
		groups->rows[i].cost.times = CALL_TIMES_NONE;
}

static void add_weight(struct programs *programs, size_t number, bool is_kept)
{
	struct groups *groups = programs->groups;
	const struct weight *weight = profile_get_weight(programs->profile, number);
	const struct thread *thread = profile_get_thread(programs->profile, weight->thread);
	const uint32_t process = thread ? thread->process.n : 0;
	struct group *row = &groups->rows[programs->row_of_process[process]];

	programs->is_sampled[process] |= weight->samples > 0;
	if (!is_kept)
		return;
	const struct call_times times = profile_get_call_times(programs->profile, number);

	programs->is_kept[process] |=
		weight->ns > 0 || weight->samples > 0 || weight->calls > 0;
	group_add_weight(row, weight, &times, &groups->is_saturated);
	sum_add(&groups->ns, weight->ns, &groups->is_saturated);
	sum_add(&groups->samples, weight->samples, &groups->is_saturated);
	group_waits_add(programs->waits, programs->row_of_process[process], weight);
}

static void add_process(struct programs *programs, uint32_t id)
{
	struct groups *groups = programs->groups;
	struct group_program *program = &groups->rows[programs->row_of_process[id]].program;
	const struct process *process =
		profile_get_process(programs->profile, (struct process_id){ id });
	const char *reason = process->unentered_reason;

	program->processes++;
	sum_add(&program->cpu_ns, process->cpu_ns, &groups->is_saturated);
	const bool is_entered = !reason && process->unentered_ns == 0;

	program->entered += is_entered;
	program->brief += process->is_too_brief || (is_entered && !programs->is_sampled[id]);
	if (is_entered || process->is_too_brief)
		return;
	if (!program->unentered_reason)
		program->unentered_reason = reason;
	else if (reason && strcmp(program->unentered_reason, reason) != 0)
		program->has_more_reasons = true;
}

static void find_intervals(const struct programs *programs, const struct filter *filter)
{
	const size_t threads = profile_thread_count(programs->profile) + 1;
	CLEANUP(freep) uint32_t *row_of_thread = xzalloc(threads * sizeof *row_of_thread);

	for (uint32_t i = 0; i < threads; i++) {
		const struct thread *thread =
			profile_get_thread(programs->profile, (struct thread_id){ i });

		row_of_thread[i] = programs->row_of_process[thread ? thread->process.n : 0];
	}
	groups_find_thread_intervals(programs->groups, programs->profile, filter,
				     row_of_thread);
}

void groups_make_by_program(const struct profile *profile, const struct filter *filter,
			    struct groups *out)
{
	const size_t count = profile_process_count(profile) + 1;
	CLEANUP(freep) uint32_t *row_of_process = xzalloc(count * sizeof *row_of_process);
	CLEANUP(freep) bool *is_sampled = xzalloc(count * sizeof *is_sampled);
	CLEANUP(freep) bool *is_kept = xzalloc(count * sizeof *is_kept);
	struct programs programs = { .profile = profile,
				     .row_of_process = row_of_process,
				     .is_sampled = is_sampled,
				     .is_kept = is_kept,
				     .groups = out };

	*out = (struct groups){ .is_saturated = profile_is_saturated(profile) };
	find_rows(&programs);
	programs.waits = group_waits_begin(out, profile);
	for (size_t i = 0; i < profile_weight_count(profile); i++)
		add_weight(&programs, i, filter_keeps(filter, profile_get_weight(profile, i)));
	group_waits_end(programs.waits);
	for (uint32_t i = 1; i < count; i++) {
		if (!filter || is_kept[i])
			add_process(&programs, i);
	}
	find_intervals(&programs, filter);
}
