#include "report/rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/merged_threads.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/places.h"
#include "report/report_options.h"
#include "report/rows_internal.h"
#include "report/rows_states.h"
#include "report/selection.h"

enum { ROWS_DEFAULT = 30, ROWS_SUMMARY = 10 };

/* The value that rows are sorted by. */
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

/* The whole that its percentages refer to. */
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

/* Tables of states show total time only, so their rows are sorted by that. */
static enum report_sort sort_for(const struct groups *groups,
				 const struct report_options *options)
{
	return states_table_is_of(options->by, groups) && !options->has_sort ? REPORT_SORT_TOTAL
									     : options->sort;
}

static size_t rows_to_show(const struct groups *groups, const struct report_options *options)
{
	const enum report_sort sort = sort_for(groups, options);
	const uint64_t whole = whole_of(groups, sort);
	size_t limit = options->max_rows;
	size_t count = 0;

	if (limit == 0)
		limit = options->is_summary ? ROWS_SUMMARY : ROWS_DEFAULT;
	for (; count < groups->count && count < limit; count++) {
		const uint64_t weight = weight_of(&groups->rows[count].cost, sort);

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

	if (hidden == 0 || options->has_no_rest)
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

/* Removes the rows of starts and ends: with many brief processes they would fill a summary. */
static void leave_out_starts(struct groups *groups)
{
	static const char *const names[] = { "[start-up]", "[exit]",
					     "[shorter than a sampling period]" };
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		bool is_left_out = false;

		for (size_t n = 0; n < sizeof names / sizeof *names; n++)
			is_left_out |= strcmp(groups->rows[i].name, names[n]) == 0;
		if (!is_left_out)
			groups->rows[kept++] = groups->rows[i];
	}
	groups->count = kept;
}

void report_table_add(const struct selection *selection, const struct report_options *options,
		      const struct style *style, struct text *out)
{
	const struct layout *layout = rows_layout(selection->profile, options);
	struct states_table states;
	struct groups groups;
	struct grid grid;

	groups_make(selection->profile, options->by, selection->filter, &groups);
	if (options->has_no_starts)
		leave_out_starts(&groups);
	if (options->by == GROUP_BY_THREAD && !options->has_idle &&
	    options->max_rows != REPORT_ALL_ROWS)
		merged_threads_make(&groups, selection->profile);
	sort_rows(&groups, sort_for(&groups, options));
	if (states_table_init(&states, selection->profile, options, &groups))
		layout = &states.layout;
	struct context context = { .profile = selection->profile,
				   .unit = time_unit_for(groups.ns),
				   .ns = groups.ns };
	size_t shown = rows_to_show(&groups, options);
	CLEANUP(freep) unsigned int *components = places_components(groups.rows, shown);

	context.rows = groups.rows;
	context.components = components;
	context.table = &states;
	grid_init(&grid, layout->columns, layout->column_count);
	for (size_t i = 0; i < shown; i++)
		layout->add_row(&grid, &context, &groups.rows[i]);
	if (shown > 0)
		grid_write(&grid, style, out);
	add_rest(&groups, shown, layout, options, style, out);
	grid_done(&grid);
	states_table_done(&states);
	groups_done(&groups);
}
