/* Defines the columns and rows of threads, processes and programs. */
#include "report/rows_internal.h"

#include "base/text.h"
#include "profile/profile.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/process_cell.h"

/* The share of CPU time; a trace has calls instead. */
static void add_share(struct grid *grid, const struct context *context, const struct group *row,
		      uint64_t cpu_ns)
{
	grid_add_percent(grid, number_percent(row->cost.self_ns, context->ns));
	grid_add_time(grid, context->unit, row->cost.self_ns);
	if (profile_is_trace(context->profile)) {
		grid_add_count(grid, row->cost.calls);
		return;
	}
	if (cpu_ns > 0)
		grid_add_time(grid, context->unit, cpu_ns);
	else
		grid_add_name(grid, TINT_NONE, NULL);
	grid_add_count(grid, row->cost.self_samples);
}

static void add_thread_row(struct grid *grid, const struct context *context,
			   const struct group *row)
{
	const struct thread *thread = profile_get_thread(context->profile, row->thread);
	const struct process *process = profile_get_process(context->profile, row->process);

	add_share(grid, context, row, thread ? thread->cpu_ns : 0);
	grid_addf(grid, TINT_NONE, "%d", thread ? thread->tid : 0);
	grid_add_name(grid, TINT_NONE, row->name);
	grid_addf(grid, TINT_DIM, "%d", process ? process->pid : 0);
	process_cell_add(grid, TINT_DIM, process, NULL);
}

static void add_process_row(struct grid *grid, const struct context *context,
			    const struct group *row)
{
	const struct process *process = profile_get_process(context->profile, row->process);

	add_share(grid, context, row, process ? process->cpu_ns : 0);
	grid_addf(grid, TINT_NONE, "%d", process ? process->pid : 0);
	process_cell_add(grid, TINT_NONE, process, row->name);
	if (process && process->unentered_reason)
		grid_add_name(grid, TINT_DIM, process->unentered_reason);
	else
		grid_addf(grid, TINT_NONE, "%s", "");
}

/* The reason if it is the same for all of a row's processes. */
static void add_reason(struct grid *grid, const struct group_program *program)
{
	if (program->has_more_reasons)
		grid_addf(grid, TINT_DIM, "several reasons: --by process");
	else if (program->unentered_reason)
		grid_add_name(grid, TINT_DIM, program->unentered_reason);
	else
		grid_addf(grid, TINT_NONE, "%s", "");
}

static void add_program_row(struct grid *grid, const struct context *context,
			    const struct group *row)
{
	add_share(grid, context, row, row->program.cpu_ns);
	grid_add_count(grid, row->program.processes);
	grid_add_count(grid, row->program.entered);
	if (!profile_is_trace(context->profile))
		grid_add_count(grid, row->program.brief);
	grid_add_name(grid, TINT_NONE, row->name);
	add_reason(grid, &row->program);
}

static const struct grid_column thread_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT, 0 },
	{ "charged", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "samples", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "tid", COLUMN_RIGHT, 0 },
	{ "thread", COLUMN_LEFT, 8 },
	{ "pid", COLUMN_RIGHT, 0 },
	{ "process", COLUMN_LEFT, 8 },
};
static const struct grid_column traced_thread_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 }, { "time", COLUMN_RIGHT, 0 },
	{ "calls", COLUMN_RIGHT, 0 },  { "tid", COLUMN_RIGHT, 0 },
	{ "thread", COLUMN_LEFT, 8 },  { "pid", COLUMN_RIGHT, 0 },
	{ "process", COLUMN_LEFT, 8 },
};
static const struct grid_column traced_process_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 }, { "time", COLUMN_RIGHT, 0 },
	{ "calls", COLUMN_RIGHT, 0 },  { "pid", COLUMN_RIGHT, 0 },
	{ "process", COLUMN_LEFT, 8 }, { "not entered because", COLUMN_TEXT, 12 },
};
static const struct grid_column process_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT, 0 },
	{ "charged", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "samples", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "pid", COLUMN_RIGHT, 0 },
	{ "process", COLUMN_LEFT, 8 },
	{ "not entered because", COLUMN_TEXT, 12 },
};
static const struct grid_column program_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT, 0 },
	{ "charged", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "samples", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "processes", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "entered", COLUMN_RIGHT, 0 },
	{ "brief", COLUMN_RIGHT | COLUMN_THIRD_OUT, 0 },
	{ "program", COLUMN_LEFT, 8 },
	{ "not entered because", COLUMN_TEXT, 12 },
};
static const struct grid_column traced_program_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT, 0 },
	{ "calls", COLUMN_RIGHT, 0 },
	{ "processes", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "entered", COLUMN_RIGHT, 0 },
	{ "program", COLUMN_LEFT, 8 },
	{ "not entered because", COLUMN_TEXT, 12 },
};

#define FIRST GROUP_BY_THREAD

static const struct layout layouts[GROUP_BY_COUNT - FIRST] = {
	[GROUP_BY_THREAD - FIRST] = { COLUMNS(thread_columns), add_thread_row, "thread",
				      "threads" },
	[GROUP_BY_PROCESS -
		FIRST] = { COLUMNS(process_columns), add_process_row, "process", "processes" },
	[GROUP_BY_PROGRAM -
		FIRST] = { COLUMNS(program_columns), add_program_row, "program", "programs" },
};

static const struct layout traced_layouts[GROUP_BY_COUNT - FIRST] = {
	[GROUP_BY_THREAD - FIRST] = { COLUMNS(traced_thread_columns), add_thread_row, "thread",
				      "threads" },
	[GROUP_BY_PROCESS - FIRST] = { COLUMNS(traced_process_columns), add_process_row,
				       "process", "processes" },
	[GROUP_BY_PROGRAM - FIRST] = { COLUMNS(traced_program_columns), add_program_row,
				       "program", "programs" },
};

const struct layout *rows_process_layout(enum group_by by, bool is_trace)
{
	return is_trace ? &traced_layouts[by - FIRST] : &layouts[by - FIRST];
}
