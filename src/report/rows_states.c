#include "report/rows_states.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group_waits.h"
#include "profile/groups.h"
#include "profile/packages.h"
#include "profile/thread_kinds.h"
#include "report/number.h"
#include "report/process_cell.h"
#include "report/report_options.h"
#include "report/wait_text.h"

/*
 * Per cent: columns of states with less are optional, RARE ones left out first, then UNCOMMON
 * ones. At least the KEPT states with most time are never left out.
 */
enum { RARE = 1, UNCOMMON = 5, KEPT = 3 };

static const struct {
	const char *noun, *plural;
} words[GROUP_BY_COUNT] = {
	[GROUP_BY_REGION] = { "region", "regions" },
	[GROUP_BY_THREAD] = { "thread", "threads" },
	[GROUP_BY_PROCESS] = { "process", "processes" },
	[GROUP_BY_PROGRAM] = { "program", "programs" },
};

/* In the unit of the row's time, which shows it. */
static void add_state_time(struct grid *grid, const struct time_unit *unit, uint64_t ns)
{
	struct text text = { 0 };

	if (ns == 0) {
		grid_add_name(grid, TINT_DIM, NULL);
		return;
	}
	number_add_time(&text, unit, ns);
	grid_addf(grid, TINT_NONE, "%.*s", (int)strcspn(text_string(&text), " "),
		  text_string(&text));
	text_done(&text);
}

/* The innermost own function of a stack, or NULL. */
static const struct function *own_of(const struct context *context, struct stack_id id)
{
	const struct stack *stack;

	while ((stack = profile_get_stack(context->profile, id)) != NULL) {
		const struct function_id function =
			profile_get_frame(context->profile, stack->frame)->function;

		const struct function *found = profile_get_function(context->profile, function);

		/* A region is own code too, but the row itself already names it. */
		if (packages_is_own(context->table->packages, function) &&
		    found->language != LANGUAGE_REGION)
			return found;
		id = stack->parent;
	}
	return NULL;
}

static void add_longest(struct grid *grid, const struct context *context,
			const struct group_waits *waits)
{
	const struct function *function =
		profile_get_function(context->profile, waits->longest);
	struct text text = { 0 };

	if (function) {
		number_add_time(&text, context->unit, waits->longest_ns);
		text_add(&text, " ");
		wait_text_add(&text, function->name);
		function = own_of(context, waits->longest_stack);
		if (function)
			text_addf(&text, " in %s", function->name);
	}
	grid_add_name(grid, TINT_DIM, text_string(&text));
	text_done(&text);
}

/* Adds the name of a row that stands for several threads. */
static void add_alike(struct grid *grid, const struct context *context, const struct group *row)
{
	CLEANUP(thread_kinds_freep)
	struct thread_kinds *kinds = thread_kinds_new(context->profile);
	CLEANUP(text_done) struct text text = { 0 };

	if (row->idle == row->alike)
		text_addf(&text, "%zu idle threads", row->alike);
	else
		text_addf(&text, "%s ×%zu",
			  thread_kinds_name(kinds, thread_kinds_of(kinds, row->thread)),
			  row->alike);
	grid_add_name(grid, TINT_NONE, text_string(&text));
}

static void add_thread_cells(struct grid *grid, const struct context *context,
			     const struct group *row)
{
	const struct thread *thread = profile_get_thread(context->profile, row->thread);

	if (row->alike > 1) {
		grid_add_name(grid, TINT_DIM, NULL);
		add_alike(grid, context, row);
		return;
	}
	grid_addf(grid, TINT_NONE, "%d", thread ? thread->tid : 0);
	grid_add_name(grid, TINT_NONE, row->name);
}

static void add_process_cells(struct grid *grid, enum tint tint, const struct context *context,
			      const struct group *row)
{
	const struct process *process = profile_get_process(context->profile, row->process);

	grid_addf(grid, tint, "%d", process ? process->pid : 0);
	process_cell_add(grid, tint, process, row->name);
}

static void add_row(struct grid *grid, const struct context *context, const struct group *row)
{
	const struct states_table *table = context->table;

	grid_add_percent(grid, number_percent(row->cost.total_ns, context->ns));
	grid_add_time(grid, context->unit, row->cost.total_ns);
	for (size_t i = 0; i < table->state_count; i++)
		add_state_time(grid, context->unit, row->waits->ns[table->states[i]]);
	if (table->by == GROUP_BY_THREAD)
		add_thread_cells(grid, context, row);
	if (table->by == GROUP_BY_PROGRAM)
		grid_add_count(grid, row->program.processes);
	if (table->by == GROUP_BY_PROGRAM || table->by == GROUP_BY_REGION)
		grid_add_name(grid, TINT_NONE, row->name);
	if (table->by == GROUP_BY_PROCESS)
		add_process_cells(grid, TINT_NONE, context, row);
	if (table->by == GROUP_BY_THREAD && table->has_processes)
		add_process_cells(grid, TINT_DIM, context, row);
	add_longest(grid, context, row->waits);
}

static void add_column(struct states_table *table, const char *title, unsigned int flags,
		       unsigned int least)
{
	table->columns[table->layout.column_count++] =
		(struct grid_column){ title, flags, least };
}

/* The number of states with more time. */
static size_t rank_of(const uint64_t sums[THREAD_STATE_COUNT], enum thread_state state)
{
	size_t rank = 0;

	for (int other = 0; other < THREAD_STATE_COUNT; other++)
		rank += sums[other] > sums[state];
	return rank;
}

static unsigned int flags_of(const uint64_t sums[THREAD_STATE_COUNT], enum thread_state state,
			     uint64_t whole_ns)
{
	const double percent = number_percent(sums[state], whole_ns);

	if (state == THREAD_STATE_RUNNING)
		return COLUMN_RIGHT;
	if (percent < RARE)
		return COLUMN_RIGHT | COLUMN_FIRST_OUT;
	if (percent < UNCOMMON)
		return COLUMN_RIGHT | COLUMN_SECOND_OUT;
	return COLUMN_RIGHT | (rank_of(sums, state) < KEPT ? 0 : COLUMN_THIRD_OUT);
}

/* Ordered from work to waiting. */
static void add_states(struct states_table *table, const struct groups *groups)
{
	static const enum thread_state order[THREAD_STATE_COUNT] = {
		THREAD_STATE_RUNNING, THREAD_STATE_RUNNABLE, THREAD_STATE_GIL,
		THREAD_STATE_GVL,     THREAD_STATE_LOCK,     THREAD_STATE_IO,
		THREAD_STATE_SLEEP,   THREAD_STATE_WAIT,     THREAD_STATE_STOPPED,
		THREAD_STATE_SYSCALL,
	};
	uint64_t sums[THREAD_STATE_COUNT] = { 0 };

	for (size_t i = 0; i < groups->count; i++)
		for (int state = 0; state < THREAD_STATE_COUNT; state++)
			sums[state] += groups->rows[i].waits->ns[state];
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++) {
		if (sums[order[i]] == 0)
			continue;
		table->states[table->state_count++] = order[i];
		add_column(table, thread_state_name(order[i]),
			   flags_of(sums, order[i], groups->ns), 0);
	}
}

bool states_table_is_of(enum group_by by, const struct groups *groups)
{
	return groups->waits && words[by].noun;
}

bool states_table_init(struct states_table *table, const struct profile *profile,
		       const struct report_options *options, const struct groups *groups)
{
	const enum group_by by = options->by;

	*table = (struct states_table){ .by = by };
	if (!states_table_is_of(by, groups))
		return false;
	table->packages = packages_new(
		profile, &(struct packages_options){ options->own, options->is_all_own });
	table->has_processes = profile_process_count(profile) > 1;
	add_column(table, "time %", COLUMN_RIGHT | COLUMN_THIRD_OUT, 0);
	add_column(table, by == GROUP_BY_REGION ? "time" : "lived", COLUMN_RIGHT, 0);
	add_states(table, groups);
	if (by == GROUP_BY_THREAD) {
		add_column(table, "tid", COLUMN_RIGHT, 0);
		add_column(table, "thread", COLUMN_LEFT, 8);
	}
	if (by == GROUP_BY_PROGRAM)
		add_column(table, "processes", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0);
	if (by == GROUP_BY_PROGRAM || by == GROUP_BY_REGION)
		add_column(table, words[by].noun, COLUMN_LEFT, 8);
	if (by == GROUP_BY_PROCESS || (by == GROUP_BY_THREAD && table->has_processes)) {
		const unsigned int flags = by == GROUP_BY_THREAD ? COLUMN_THIRD_OUT : 0;

		add_column(table, "pid", COLUMN_RIGHT | flags, 0);
		add_column(table, "process", COLUMN_LEFT, 8);
	}
	add_column(table, "waited most in", COLUMN_TEXT | COLUMN_SECOND_OUT, 16);
	table->layout.columns = table->columns;
	table->layout.add_row = add_row;
	table->layout.noun = words[by].noun;
	table->layout.plural = words[by].plural;
	return true;
}

void states_table_done(struct states_table *table)
{
	packages_freep(&table->packages);
}
