/* Defines the columns of each grouping's rows, and fills them in. */
#include "report/rows_internal.h"

#include <string.h>

#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/places.h"
#include "report/report_options.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_costs(struct grid *grid, const struct context *context, const struct group *row)
{
	grid_add_percent(grid, number_percent(row->cost.self_ns, context->ns));
	grid_add_time(grid, context->unit, row->cost.self_ns);
	grid_add_percent(grid, number_percent(row->cost.total_ns, context->ns));
	grid_add_time(grid, context->unit, row->cost.total_ns);
}

static void add_sampled_costs(struct grid *grid, const struct context *context,
			      const struct group *row)
{
	const struct cost *cost = &row->cost;

	grid_add_share(grid, cost->self_ns, context->ns, &cost->intervals.self);
	grid_add_half_width(grid, cost->self_ns, context->ns, &cost->intervals.self);
	grid_add_time(grid, context->unit, cost->self_ns);
	grid_add_share(grid, cost->total_ns, context->ns, &cost->intervals.total);
	grid_add_half_width(grid, cost->total_ns, context->ns, &cost->intervals.total);
	grid_add_time(grid, context->unit, cost->total_ns);
}

static void add_place(struct grid *grid, const struct context *context, const struct group *row)
{
	struct text place = { 0 };

	places_add(&place, row, context->components[row - context->rows]);
	grid_add_name(grid, TINT_DIM, text_string(&place));
	text_done(&place);
}

/* The language of a function that is in no module. */
static const char *language_of(const struct context *context, const struct group *row)
{
	return language_title(profile_get_function(context->profile, row->function)->language);
}

static void add_function_row(struct grid *grid, const struct context *context,
			     const struct group *row)
{
	const struct module *module = profile_get_module(context->profile, row->module);

	add_sampled_costs(grid, context, row);
	grid_add_name(grid, TINT_NONE, row->name);
	add_place(grid, context, row);
	grid_add_name(grid, TINT_DIM,
		      module ? base_name(module->path) : language_of(context, row));
}

/* As in pstats: all calls, and if fewer, those not made recursively. */
static void add_calls(struct grid *grid, const struct cost *cost)
{
	if (cost->calls == cost->primitive_calls) {
		grid_add_count(grid, cost->calls);
		return;
	}
	struct text cell = { 0 };

	number_add_count(&cell, cost->calls);
	text_add(&cell, "/");
	number_add_count(&cell, cost->primitive_calls);
	grid_addf(grid, TINT_NONE, "%s", text_string(&cell));
	text_done(&cell);
}

static void add_per_call(struct grid *grid, uint64_t ns, uint64_t calls)
{
	struct text cell = { 0 };

	if (calls > 0)
		number_add_any_time(&cell, ns / calls);
	grid_addf(grid, TINT_NONE, "%s", text_string(&cell));
	text_done(&cell);
}

/* The columns of pstats, in its order. */
static void add_traced_row(struct grid *grid, const struct context *context,
			   const struct group *row)
{
	const struct cost *cost = &row->cost;

	add_calls(grid, cost);
	grid_add_percent(grid, number_percent(cost->self_ns, context->ns));
	grid_add_time(grid, context->unit, cost->self_ns);
	add_per_call(grid, cost->self_ns, cost->calls);
	grid_add_time(grid, context->unit, cost->total_ns);
	add_per_call(grid, cost->total_ns, cost->primitive_calls);
	grid_add_name(grid, TINT_NONE, row->name);
	add_place(grid, context, row);
}

static void add_extreme(struct grid *grid, const struct cost *cost, uint64_t ns)
{
	struct text cell = { 0 };

	if (cost->times.shortest_ns != UINT64_MAX)
		number_add_any_time(&cell, ns);
	grid_addf(grid, TINT_NONE, "%s", text_string(&cell));
	text_done(&cell);
}

static void add_extremes_row(struct grid *grid, const struct context *context,
			     const struct group *row)
{
	const struct cost *cost = &row->cost;

	add_calls(grid, cost);
	grid_add_percent(grid, number_percent(cost->total_ns, context->ns));
	add_per_call(grid, cost->total_ns, cost->primitive_calls);
	add_extreme(grid, cost, cost->times.shortest_ns);
	add_extreme(grid, cost, cost->times.longest_ns);
	grid_add_name(grid, TINT_NONE, row->name);
	add_place(grid, context, row);
}

static void add_named_row(struct grid *grid, const struct context *context,
			  const struct group *row)
{
	add_sampled_costs(grid, context, row);
	grid_add_name(grid, TINT_NONE, row->name);
}

static const char *meaning_of(const char *state)
{
	static const char *const meanings[THREAD_STATE_COUNT] = {
		[THREAD_STATE_RUNNING] = "ran on a CPU",
		[THREAD_STATE_RUNNABLE] = "waited for a CPU",
		[THREAD_STATE_GIL] = "waited for Python's GIL",
		[THREAD_STATE_GVL] = "waited for Ruby's GVL",
		[THREAD_STATE_LOCK] = "waited for a lock, a condition, another thread",
		[THREAD_STATE_SYSCALL] = "waited in another system call",
		[THREAD_STATE_STOPPED] = "stopped, by a signal or a debugger",
		[THREAD_STATE_IO] = "waited for a file, a socket, a pipe",
		[THREAD_STATE_SLEEP] = "slept",
		[THREAD_STATE_WAIT] = "waited for a child, a signal, a thread's end",
	};
	enum thread_state known;

	return thread_state_parse(state, &known) ? meanings[known] : "";
}

static void add_state_row(struct grid *grid, const struct context *context,
			  const struct group *row)
{
	grid_add_percent(grid, number_percent(row->cost.self_ns, context->ns));
	grid_add_time(grid, context->unit, row->cost.self_ns);
	grid_add_name(grid, TINT_NONE, row->name);
	grid_addf(grid, TINT_DIM, "%s", meaning_of(row->name));
}

static void add_traced_named_row(struct grid *grid, const struct context *context,
				 const struct group *row)
{
	add_calls(grid, &row->cost);
	add_costs(grid, context, row);
	grid_add_name(grid, TINT_NONE, row->name);
}

static const struct grid_column function_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },
	{ "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },
	{ "self time", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT, 0 },
	{ "±", COLUMN_RIGHT | COLUMN_INTERVAL | COLUMN_SECOND_OUT, 0 },
	{ "total time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "function", COLUMN_NAME, 12 },
	{ "file:line", COLUMN_LEFT, 10 },
	{ "module", COLUMN_FIRST_OUT, 12 },
};
static const struct grid_column traced_columns[] = {
	{ "calls", COLUMN_RIGHT, 0 },
	{ "self %", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },
	{ "per call", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "total time", COLUMN_RIGHT | COLUMN_THIRD_OUT, 0 },
	{ "per call", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "function", COLUMN_NAME, 12 },
	{ "file:line", COLUMN_LEFT, 10 },
};
static const struct grid_column extremes_columns[] = {
	{ "calls", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "per call", COLUMN_RIGHT, 0 },
	{ "shortest", COLUMN_RIGHT, 0 },
	{ "longest", COLUMN_RIGHT, 0 },
	{ "function", COLUMN_NAME, 12 },
	{ "file:line", COLUMN_FIRST_OUT, 10 },
};
/* For rows that only have a name. */
#define NAMED_COLUMNS(title)                                                               \
	{                                                                                  \
		{ "self %", COLUMN_RIGHT, 0 }, { "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 }, \
			{ "self time", COLUMN_RIGHT, 0 }, { "total %", COLUMN_RIGHT, 0 },  \
			{ "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },                        \
			{ "total time", COLUMN_RIGHT, 0 }, { title, COLUMN_LEFT, 12 },     \
	}
#define TRACED_NAMED_COLUMNS(title)                                                    \
	{                                                                              \
		{ "calls", COLUMN_RIGHT, 0 }, { "self %", COLUMN_RIGHT, 0 },           \
			{ "self time", COLUMN_RIGHT, 0 },                              \
			{ "total %", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },             \
			{ "total time", COLUMN_RIGHT, 0 }, { title, COLUMN_LEFT, 12 }, \
	}
static const struct grid_column module_columns[] = NAMED_COLUMNS("module");
static const struct grid_column package_columns[] = NAMED_COLUMNS("package");
static const struct grid_column region_columns[] = NAMED_COLUMNS("region");
static const struct grid_column traced_module_columns[] = TRACED_NAMED_COLUMNS("module");
static const struct grid_column traced_package_columns[] = TRACED_NAMED_COLUMNS("package");
static const struct grid_column traced_region_columns[] = TRACED_NAMED_COLUMNS("region");
static const struct grid_column state_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT, 0 },
	{ "state", COLUMN_LEFT, 8 },
	{ "what threads did", COLUMN_FIRST_OUT, 12 },
};
static const struct layout layouts[GROUP_BY_THREAD] = {
	[GROUP_BY_FUNCTION] = { COLUMNS(function_columns), add_function_row, "function",
				"functions" },
	[GROUP_BY_LINE] = { COLUMNS(function_columns), add_function_row, "line", "lines" },
	[GROUP_BY_MODULE] = { COLUMNS(module_columns), add_named_row, "module", "modules" },
	[GROUP_BY_PACKAGE] = { COLUMNS(package_columns), add_named_row, "package", "packages" },
	[GROUP_BY_REGION] = { COLUMNS(region_columns), add_named_row, "region", "regions" },
	[GROUP_BY_STATE] = { COLUMNS(state_columns), add_state_row, "state", "states" },
};

/* Groupings whose layout differs for traces. */
static const struct layout traced_layouts[GROUP_BY_THREAD] = {
	[GROUP_BY_FUNCTION] = { COLUMNS(traced_columns), add_traced_row, "function",
				"functions" },
	[GROUP_BY_MODULE] = { COLUMNS(traced_module_columns), add_traced_named_row, "module",
			      "modules" },
	[GROUP_BY_PACKAGE] = { COLUMNS(traced_package_columns), add_traced_named_row, "package",
			       "packages" },
	[GROUP_BY_REGION] = { COLUMNS(traced_region_columns), add_traced_named_row, "region",
			      "regions" },
};

/* By function, with the shortest and the longest call. */
static const struct layout extremes_layout = { COLUMNS(extremes_columns), add_extremes_row,
					       "function", "functions" };

const struct layout *rows_layout(const struct profile *profile,
				 const struct report_options *options)
{
	if (options->by >= GROUP_BY_THREAD)
		return rows_process_layout(options->by, profile_is_trace(profile));
	if (!profile_is_trace(profile))
		return &layouts[options->by];
	return options->has_extremes && options->by == GROUP_BY_FUNCTION
		       ? &extremes_layout
		       : &traced_layouts[options->by];
}
