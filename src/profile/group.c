#include "profile/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/by_package.h"
#include "profile/by_program.h"
#include "profile/by_region.h"
#include "profile/filter.h"
#include "profile/group_waits.h"
#include "profile/states.h"
#include "profile/sum.h"

static const char *const by_names[GROUP_BY_COUNT] = {
	[GROUP_BY_FUNCTION] = "function", [GROUP_BY_LINE] = "line",
	[GROUP_BY_MODULE] = "module",     [GROUP_BY_PACKAGE] = "package",
	[GROUP_BY_REGION] = "region",     [GROUP_BY_THREAD] = "thread",
	[GROUP_BY_PROCESS] = "process",   [GROUP_BY_PROGRAM] = "program",
	[GROUP_BY_STATE] = "state",
};

const char *group_by_name(enum group_by by)
{
	return by_names[by];
}

bool group_by_parse(const char *name, enum group_by *out_by)
{
	for (int by = 0; by < GROUP_BY_COUNT; by++) {
		if (strcmp(by_names[by], name) == 0) {
			*out_by = (enum group_by)by;
			return true;
		}
	}
	return false;
}

/* Rows being collected: the index maps a row's key to its number + 1. */
struct rows {
	struct group *rows;
	size_t count, capacity;
	struct table index;
};

static uint32_t row_at(struct rows *rows, uint64_t hi, uint64_t lo, const struct group *group)
{
	bool is_new;
	uint64_t *place = table_at(&rows->index, hi, lo, &is_new);

	if (is_new) {
		rows->rows = array_grow(rows->rows, rows->count, &rows->capacity,
					sizeof *rows->rows);
		rows->rows[rows->count++] = *group;
		*place = rows->count;
	}
	return (uint32_t)*place - 1;
}

/* Strings are interned in the profile: equal texts are equal pointers. */
static uint64_t key_of_string(const char *string)
{
	return (uint64_t)(uintptr_t)string;
}

static uint32_t function_row(struct rows *rows, const struct frame *frame,
			     const struct function *function)
{
	struct group group = { .function = frame->function,
			       .module = function->module,
			       .name = function->name,
			       .file = function->file,
			       .line = function->line };

	return row_at(rows, 0, frame->function.n, &group);
}

static uint32_t line_row(struct rows *rows, const struct frame *frame,
			 const struct function *function)
{
	struct group group = { .function = frame->function,
			       .module = function->module,
			       .name = function->name,
			       .file = frame->file ? frame->file : function->file,
			       .line = frame->line };

	return row_at(rows, key_of_string(group.file),
		      (uint64_t)frame->function.n << 32 | frame->line, &group);
}

static const char *name_of_builtins(enum language language)
{
	return language == LANGUAGE_RUBY ? "[Ruby's built-in methods]"
					 : "[Python's built-in functions]";
}

/*
 * The row of a function without a module: for Python and Ruby their file serves as module;
 * bracketed rows (fathom's own, garbage collection) have their name; C functions named by an
 * interpreter share a row.
 */
static uint32_t module_row(struct rows *rows, const struct profile *profile,
			   const struct function *function)
{
	const struct module *module = profile_get_module(profile, function->module);
	struct group group = { .module = function->module, .name = "[no module]" };

	if (module)
		group.name = module->path;
	else if (function->file)
		group.name = function->file;
	else if (function->language != LANGUAGE_NATIVE && function->name[0] == '[')
		group.name = function->name;
	else if (function_is_builtin(function))
		group.name = name_of_builtins(function->language);
	return row_at(rows, module ? 0 : key_of_string(group.name), function->module.n, &group);
}

static uint32_t row_of(struct rows *rows, const struct profile *profile, enum group_by by,
		       const struct frame *frame)
{
	const struct function *function = profile_get_function(profile, frame->function);

	switch (by) {
	case GROUP_BY_LINE:
		return line_row(rows, frame, function);
	case GROUP_BY_MODULE:
		return module_row(rows, profile, function);
	default:
		return function_row(rows, frame, function);
	}
}

/* Adds a weight once to each row on its stack, however often the row is on it. */
static void add_waits(const struct profile *profile, const struct filter *filter,
		      const uint32_t *row_of_frame, struct groups *groups)
{
	struct waits_builder *waits = group_waits_begin(groups, profile);
	CLEANUP(freep) size_t *counted = NULL;

	if (!waits)
		return;
	counted = xzalloc((groups->count + 1) * sizeof *counted);
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct stack *stack = profile_get_stack(profile, weight->stack);

		for (; stack && filter_keeps(filter, weight);
		     stack = profile_get_stack(profile, stack->parent)) {
			const uint32_t row = row_of_frame[stack->frame.n - 1];

			if (counted[row] != i + 1)
				group_waits_add(waits, row, weight);
			counted[row] = i + 1;
		}
	}
	group_waits_end(waits);
}

static void make_of_frames(const struct profile *profile, enum group_by by,
			   const struct filter *filter, struct groups *out)
{
	size_t frames = profile_frame_count(profile);
	CLEANUP(freep)
	uint32_t *row_of_frame = xreallocarray(NULL, frames + 1, sizeof *row_of_frame);
	struct rows rows = { 0 };
	struct totals totals;

	for (uint32_t i = 0; i < frames; i++)
		row_of_frame[i] =
			row_of(&rows, profile, by,
			       profile_get_frame(profile, (struct frame_id){ i + 1 }));
	totals_by_row(profile, filter, row_of_frame, rows.count, &totals);
	for (size_t i = 0; i < rows.count; i++)
		rows.rows[i].cost = totals.rows[i];
	*out = (struct groups){ .rows = rows.rows,
				.count = rows.count,
				.ns = totals.ns,
				.samples = totals.samples,
				.is_saturated = totals.is_saturated };
	add_waits(profile, filter, row_of_frame, out);
	table_done(&rows.index);
	totals_done(&totals);
}

/* Row 0 is for time of no known thread or process. */
static void name_threads(const struct profile *profile, struct group *rows, size_t count)
{
	rows[0].name = "[no thread]";
	for (uint32_t i = 1; i < count; i++) {
		const struct thread *thread =
			profile_get_thread(profile, (struct thread_id){ i });
		rows[i].thread.n = i;
		rows[i].process = thread->process;
		rows[i].name = thread->name;
	}
}

static void name_processes(const struct profile *profile, struct group *rows, size_t count)
{
	rows[0].name = "[no process]";
	for (uint32_t i = 1; i < count; i++) {
		rows[i].process.n = i;
		rows[i].name = profile_get_process(profile, (struct process_id){ i })->name;
	}
}

static void find_thread_intervals(const struct profile *profile, enum group_by by,
				  const struct filter *filter, struct groups *out)
{
	const size_t threads = profile_thread_count(profile) + 1;
	CLEANUP(freep) uint32_t *row_of_thread = xzalloc(threads * sizeof *row_of_thread);

	for (uint32_t i = 1; i < threads; i++)
		row_of_thread[i] =
			by == GROUP_BY_THREAD
				? i
				: profile_get_thread(profile, (struct thread_id){ i })
					  ->process.n;
	groups_find_thread_intervals(out, profile, filter, row_of_thread);
}

static void make_of_threads(const struct profile *profile, enum group_by by,
			    const struct filter *filter, struct groups *out)
{
	bool is_by_thread = by == GROUP_BY_THREAD;
	size_t count = 1 + (is_by_thread ? profile_thread_count(profile)
					 : profile_process_count(profile));

	*out = (struct groups){ .rows = xzalloc(count * sizeof *out->rows),
				.count = count,
				.is_saturated = profile_is_saturated(profile) };
	if (is_by_thread)
		name_threads(profile, out->rows, count);
	else
		name_processes(profile, out->rows, count);
	for (size_t i = 0; i < count; i++)
		out->rows[i].cost.times = CALL_TIMES_NONE;
	struct waits_builder *waits = group_waits_begin(out, profile);

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct thread *thread = profile_get_thread(profile, weight->thread);
		uint32_t row = is_by_thread ? weight->thread.n : thread ? thread->process.n : 0;
		if (!filter_keeps(filter, weight))
			continue;
		const struct call_times times = profile_get_call_times(profile, i);

		group_add_weight(&out->rows[row], weight, &times, &out->is_saturated);
		sum_add(&out->ns, weight->ns, &out->is_saturated);
		sum_add(&out->samples, weight->samples, &out->is_saturated);
		group_waits_add(waits, row, weight);
	}
	group_waits_end(waits);
	find_thread_intervals(profile, by, filter, out);
}

static void make_of_states(const struct profile *profile, const struct filter *filter,
			   struct groups *out)
{
	struct state_sums sums;

	states_sum(profile, filter, &sums);
	*out = (struct groups){ .rows = xzalloc(THREAD_STATE_COUNT * sizeof *out->rows),
				.count = THREAD_STATE_COUNT,
				.ns = sums.whole_ns,
				.is_saturated = sums.is_saturated };
	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		struct group *row = &out->rows[state];

		row->name = thread_state_name((enum thread_state)state);
		row->cost = (struct cost){ .self_ns = sums.ns[state],
					   .total_ns = sums.ns[state],
					   .self_samples = sums.samples[state],
					   .total_samples = sums.samples[state],
					   .times = CALL_TIMES_NONE };
		sum_add(&out->samples, sums.samples[state], &out->is_saturated);
	}
}

static void drop_empty(struct groups *groups, bool keeps_named)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *row = &groups->rows[i];
		bool is_known = keeps_named &&
				(row->thread.n || row->process.n || row->program.processes);
		if (row->cost.total_ns || row->cost.total_samples || row->cost.calls ||
		    is_known)
			groups->rows[kept++] = *row;
	}
	groups->count = kept;
}

static int compare_u64_descending(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a > b ? -1 : 1;
}

/* So that the same profile has the same order, whatever the ids. */
static int compare_names(const struct group *a, const struct group *b)
{
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	if (order == 0)
		order = a->line == b->line ? 0 : a->line < b->line ? -1 : 1;
	if (order == 0 && a->thread.n != b->thread.n)
		order = a->thread.n < b->thread.n ? -1 : 1;
	if (order == 0 && a->process.n != b->process.n)
		order = a->process.n < b->process.n ? -1 : 1;
	if (order == 0 && a->function.n != b->function.n)
		order = a->function.n < b->function.n ? -1 : 1;
	return order;
}

static int compare_self(const void *a, const void *b)
{
	const struct group *x = a;
	const struct group *y = b;
	int order = compare_u64_descending(x->cost.self_ns, y->cost.self_ns);

	if (order == 0)
		order = compare_u64_descending(x->cost.total_ns, y->cost.total_ns);
	return order ? order : compare_names(x, y);
}

static int compare_total(const void *a, const void *b)
{
	const struct group *x = a;
	const struct group *y = b;
	int order = compare_u64_descending(x->cost.total_ns, y->cost.total_ns);

	return order ? order : compare_self(a, b);
}

static int compare_calls(const void *a, const void *b)
{
	const struct group *x = a;
	const struct group *y = b;
	int order = compare_u64_descending(x->cost.calls, y->cost.calls);

	return order ? order : compare_self(a, b);
}

void groups_make(const struct profile *profile, enum group_by by, const struct filter *filter,
		 struct groups *out)
{
	if (by == GROUP_BY_THREAD || by == GROUP_BY_PROCESS)
		make_of_threads(profile, by, filter, out);
	else if (by == GROUP_BY_PROGRAM)
		groups_make_by_program(profile, filter, out);
	else if (by == GROUP_BY_PACKAGE)
		groups_make_by_package(profile, filter, out);
	else if (by == GROUP_BY_STATE)
		make_of_states(profile, filter, out);
	else if (by == GROUP_BY_REGION)
		groups_make_by_region(profile, filter, out);
	else
		make_of_frames(profile, by, filter, out);
	drop_empty(out, !filter && by >= GROUP_BY_THREAD);
	if (out->count > 0)
		qsort(out->rows, out->count, sizeof *out->rows, compare_self);
}

void groups_sort_by_total(struct groups *groups)
{
	if (groups->count > 0)
		qsort(groups->rows, groups->count, sizeof *groups->rows, compare_total);
}

void groups_sort_by_calls(struct groups *groups)
{
	if (groups->count > 0)
		qsort(groups->rows, groups->count, sizeof *groups->rows, compare_calls);
}

void groups_done(struct groups *groups)
{
	freep(&groups->rows);
	freep(&groups->waits);
	*groups = (struct groups){ 0 };
}
