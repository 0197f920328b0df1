/*
 * Says how much of the wall clock's time is waits for child processes that are recorded as well:
 * the hot paths show those last.
 */
#include "report/head.h"

#include <string.h>

#include "base/memory.h"
#include "profile/child_waits.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/head_internal.h"

/* Per cent of the time: less is not mentioned. */
enum { CHILDREN_LEAST = 5 };

/* Sums by process id; returns their sum. */
static uint64_t sum_by_process(const struct profile *profile, const struct filter *filter,
			       const bool *is_for_child, uint64_t *ns, uint64_t *whole_ns)
{
	uint64_t sum_ns = 0;
	bool is_saturated = false;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct thread *thread = profile_get_thread(profile, weight->thread);

		if (!filter_keeps(filter, weight))
			continue;
		sum_add(whole_ns, weight->ns, &is_saturated);
		if (!is_for_child[i])
			continue;
		sum_add(&ns[thread->process.n], weight->ns, &is_saturated);
		sum_add(&sum_ns, weight->ns, &is_saturated);
	}
	return sum_ns;
}

/* Adds "make", or "make and others": the program of the process that waits longest is named. */
static void add_programs(struct text *text, const struct profile *profile, const uint64_t *ns)
{
	const size_t count = profile_process_count(profile);
	const struct process *most = NULL;
	bool has_others = false;
	uint64_t most_ns = 0;

	for (uint32_t i = 1; i <= count; i++) {
		if (ns[i] > most_ns) {
			most_ns = ns[i];
			most = profile_get_process(profile, (struct process_id){ i });
		}
	}
	for (uint32_t i = 1; i <= count && most; i++) {
		const struct process *process =
			profile_get_process(profile, (struct process_id){ i });

		has_others |= ns[i] > 0 && strcmp(process->name, most->name) != 0;
	}
	text_addf(text, "%s%s", most ? most->name : "?", has_others ? " and others" : "");
}

void head_add_children(struct text *out, const struct style *style,
		       const struct profile *profile)
{
	const struct filter_options busy = { .is_without_idle = true };
	CLEANUP(freep) bool *is_for_child = child_waits_find(profile);
	CLEANUP(freep) uint64_t *ns = NULL;
	CLEANUP(filter_freep) struct filter *filter = NULL;
	CLEANUP(text_done) struct text programs = { 0 };
	uint64_t whole_ns = 0, child_ns;

	if (!is_for_child)
		return;
	if (filter_new(profile, &busy, &filter, NULL) < 0)
		filter = NULL;
	ns = xzalloc((profile_process_count(profile) + 1) * sizeof *ns);
	child_ns = sum_by_process(profile, filter, is_for_child, ns, &whole_ns);
	if (number_percent(child_ns, whole_ns) < CHILDREN_LEAST)
		return;
	add_programs(&programs, profile, ns);
	head_add_line(out, style, "children",
		      "%.0f %% of that are waits of %s for child processes: listed last",
		      number_percent(child_ns, whole_ns), text_string(&programs));
}
