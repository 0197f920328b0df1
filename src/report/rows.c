#include "report/rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/places.h"
#include "report/report_options.h"
#include "report/rows_internal.h"
#include "report/selection.h"

enum { ROWS_DEFAULT = 30, ROWS_SUMMARY = 10 };

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

static void add_place(struct grid *grid, const struct context *context, const struct group *row)
{
	struct text place = { 0 };

	places_add(&place, row, context->components[row - context->rows]);
	grid_add_name(grid, TINT_DIM, text_string(&place));
	text_done(&place);
}

/* What executes the code of a function that is in no module. */
static const char *language_of(const struct context *context, const struct group *row)
{
	return language_title(profile_get_function(context->profile, row->function)->language);
}

static void add_function_row(struct grid *grid, const struct context *context,
			     const struct group *row)
{
	const struct module *module = profile_get_module(context->profile, row->module);

	add_costs(grid, context, row);
	grid_add_name(grid, TINT_NONE, row->name);
	add_place(grid, context, row);
	grid_add_name(grid, TINT_DIM,
		      module ? base_name(module->path) : language_of(context, row));
}

/* As pstats has it: all, and those not made by itself where that is less. */
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

/* The columns of pstats, and their order. */
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

static void add_module_row(struct grid *grid, const struct context *context,
			   const struct group *row)
{
	add_costs(grid, context, row);
	grid_add_name(grid, TINT_NONE, row->name);
}

static void add_traced_module_row(struct grid *grid, const struct context *context,
				  const struct group *row)
{
	add_calls(grid, &row->cost);
	add_module_row(grid, context, row);
}

static const struct grid_column function_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT, 0 },
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
static const struct grid_column module_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },  { "self time", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT, 0 }, { "total time", COLUMN_RIGHT, 0 },
	{ "module", COLUMN_LEFT, 12 },
};
static const struct grid_column package_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },  { "self time", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT, 0 }, { "total time", COLUMN_RIGHT, 0 },
	{ "package", COLUMN_LEFT, 12 },
};
static const struct grid_column region_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },  { "self time", COLUMN_RIGHT, 0 },
	{ "total %", COLUMN_RIGHT, 0 }, { "total time", COLUMN_RIGHT, 0 },
	{ "region", COLUMN_LEFT, 12 },
};
static const struct grid_column traced_module_columns[] = {
	{ "calls", COLUMN_RIGHT, 0 },      { "self %", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },  { "total %", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "total time", COLUMN_RIGHT, 0 }, { "module", COLUMN_LEFT, 12 },
};
static const struct grid_column traced_package_columns[] = {
	{ "calls", COLUMN_RIGHT, 0 },      { "self %", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },  { "total %", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "total time", COLUMN_RIGHT, 0 }, { "package", COLUMN_LEFT, 12 },
};
static const struct grid_column traced_region_columns[] = {
	{ "calls", COLUMN_RIGHT, 0 },      { "self %", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },  { "total %", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "total time", COLUMN_RIGHT, 0 }, { "region", COLUMN_LEFT, 12 },
};

static const struct layout layouts[GROUP_BY_THREAD] = {
	[GROUP_BY_FUNCTION] = { COLUMNS(function_columns), add_function_row, "function",
				"functions" },
	[GROUP_BY_LINE] = { COLUMNS(function_columns), add_function_row, "line", "lines" },
	[GROUP_BY_MODULE] = { COLUMNS(module_columns), add_module_row, "module", "modules" },
	[GROUP_BY_PACKAGE] = { COLUMNS(package_columns), add_module_row, "package",
			       "packages" },
	[GROUP_BY_REGION] = { COLUMNS(region_columns), add_module_row, "region", "regions" },
};

/* Where it differs. */
static const struct layout traced_layouts[GROUP_BY_THREAD] = {
	[GROUP_BY_FUNCTION] = { COLUMNS(traced_columns), add_traced_row, "function",
				"functions" },
	[GROUP_BY_MODULE] = { COLUMNS(traced_module_columns), add_traced_module_row, "module",
			      "modules" },
	[GROUP_BY_PACKAGE] = { COLUMNS(traced_package_columns), add_traced_module_row,
			       "package", "packages" },
	[GROUP_BY_REGION] = { COLUMNS(traced_region_columns), add_traced_module_row, "region",
			      "regions" },
};

/* Of functions, with the shortest and the longest call. */
static const struct layout extremes_layout = { COLUMNS(extremes_columns), add_extremes_row,
					       "function", "functions" };

static const struct layout *layout_for(const struct profile *profile,
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

/* What rows are sorted by. */
static uint64_t weight_of(const struct cost *cost, enum report_sort sort)
{
	switch (sort) {
	case REPORT_SORT_TOTAL:
		return cost->total_ns;
	case REPORT_SORT_CALLS:
		return cost->calls;
	default:
		return cost->self_ns;
	}
}

/* And what its percentages are of. */
static uint64_t whole_of(const struct groups *groups, enum report_sort sort)
{
	uint64_t calls = 0;
	bool is_saturated = false;

	if (sort != REPORT_SORT_CALLS)
		return groups->ns;
	for (size_t i = 0; i < groups->count; i++)
		sum_add(&calls, groups->rows[i].cost.calls, &is_saturated);
	return calls;
}

static void sort_rows(struct groups *groups, enum report_sort sort)
{
	if (sort == REPORT_SORT_TOTAL)
		groups_sort_by_total(groups);
	if (sort == REPORT_SORT_CALLS)
		groups_sort_by_calls(groups);
}

static size_t rows_to_show(const struct groups *groups, const struct report_options *options)
{
	const uint64_t whole = whole_of(groups, options->sort);
	size_t limit = options->max_rows;
	size_t count = 0;

	if (limit == 0)
		limit = options->is_summary ? ROWS_SUMMARY : ROWS_DEFAULT;
	for (; count < groups->count && count < limit; count++) {
		const uint64_t weight = weight_of(&groups->rows[count].cost, options->sort);

		if (options->has_min_percent &&
		    number_percent(weight, whole) < options->min_percent)
			break;
	}
	return count;
}

static void add_rest(const struct groups *groups, size_t shown, const struct layout *layout,
		     const struct report_options *options, const struct style *style,
		     struct text *out)
{
	size_t hidden = groups->count - shown;
	uint64_t self_ns = 0;
	bool is_saturated = false;
	struct text sentence = { 0 };

	if (hidden == 0)
		return;
	for (size_t i = shown; i < groups->count; i++)
		sum_add(&self_ns, groups->rows[i].cost.self_ns, &is_saturated);
	text_add(&sentence, "… ");
	number_add_count(&sentence, hidden);
	text_addf(&sentence, " more %s, %.1f %% together",
		  hidden == 1 ? layout->noun : layout->plural,
		  number_percent(self_ns, groups->ns));
	if (!options->is_summary)
		text_addf(&sentence, " (%s-n 0 shows all)",
			  options->has_min_percent ? "--min 0 " : "");
	style_add(out, style, TINT_DIM, text_string(&sentence));
	text_add(out, "\n");
	text_done(&sentence);
}

void report_table_add(const struct selection *selection, const struct report_options *options,
		      const struct style *style, struct text *out)
{
	const struct layout *layout = layout_for(selection->profile, options);
	struct groups groups;
	struct grid grid;

	groups_make(selection->profile, options->by, selection->filter, &groups);
	sort_rows(&groups, options->sort);
	struct context context = { .profile = selection->profile,
				   .unit = time_unit_for(groups.ns),
				   .ns = groups.ns };
	size_t shown = rows_to_show(&groups, options);
	CLEANUP(freep) unsigned int *components = places_components(groups.rows, shown);

	context.rows = groups.rows;
	context.components = components;
	grid_init(&grid, layout->columns, layout->column_count);
	for (size_t i = 0; i < shown; i++)
		layout->add_row(&grid, &context, &groups.rows[i]);
	if (shown > 0)
		grid_write(&grid, style, out);
	add_rest(&groups, shown, layout, options, style, out);
	grid_done(&grid);
	groups_done(&groups);
}
