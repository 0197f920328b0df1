#include "report/accuracy.h"

#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "report/grid.h"
#include "report/head.h"
#include "report/number.h"
#include "report/process_cell.h"
#include "report/style.h"

enum { ROWS_MAX = 10 };

/* The self time's uncertainty, relative to the whole. */
static double off_of(const struct cost *cost, uint64_t whole_ns)
{
	const struct interval *interval = &cost->intervals.self;

	return whole_ns > 0 ? ((double)interval->high_ns - (double)interval->low_ns) / 2 /
				      (double)whole_ns
			    : 0;
}

/*
 * How much recorded time would narrow that to one point: it falls with the square root of time.
 */
static uint64_t time_for_a_point(double off, uint64_t whole_ns)
{
	const double ns = pow(off / 0.01, 2) * (double)whole_ns;

	return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

static void add_title(struct text *out, const struct style *style, const char *sentence)
{
	text_add(out, "\n");
	style_add_wrapped(out, style, 0, sentence);
	text_add(out, "\n\n");
}

static void add_top(struct text *out, const struct style *style, const struct profile *profile)
{
	static const struct grid_column columns[] = {
		{ "self %", COLUMN_RIGHT, 0 },
		{ "±", COLUMN_RIGHT, 0 },
		{ "for ±1 point", COLUMN_RIGHT, 0 },
		{ "function", COLUMN_NAME, 12 },
	};
	struct groups groups;
	struct grid grid;
	size_t shown = 0;

	groups_make(profile, GROUP_BY_FUNCTION, NULL, &groups);
	grid_init(&grid, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < groups.count && shown < ROWS_MAX; i++) {
		const struct cost *cost = &groups.rows[i].cost;
		const double off = off_of(cost, groups.ns);

		if (cost->self_samples == 0 || off <= 0)
			continue;
		const uint64_t ns = time_for_a_point(off, groups.ns);

		grid_add_share(&grid, cost->self_ns, groups.ns, &cost->intervals.self);
		grid_add_half_width(&grid, cost->self_ns, groups.ns, &cost->intervals.self);
		grid_add_time(&grid, time_unit_for(ns), ns);
		grid_add_name(&grid, TINT_NONE, groups.rows[i].name);
		shown++;
	}
	if (shown > 0) {
		add_title(out, style,
			  "Shares with their 95 % confidence intervals, and how much CPU time "
			  "would have to be recorded for ±1 point:");
		grid_write(&grid, style, out);
	}
	grid_done(&grid);
	groups_done(&groups);
}

static void add_processes(struct text *out, const struct style *style,
			  const struct profile *profile)
{
	static const struct grid_column columns[] = {
		{ "kernel", COLUMN_RIGHT, 0 },     { "accounted", COLUMN_RIGHT, 0 },
		{ "difference", COLUMN_RIGHT, 0 }, { "samples", COLUMN_RIGHT, 0 },
		{ "process", COLUMN_LEFT, 12 },
	};
	struct groups groups;
	struct grid grid;
	size_t shown = 0;

	groups_make(profile, GROUP_BY_PROCESS, NULL, &groups);
	const struct time_unit *unit = time_unit_for(groups.ns);

	grid_init(&grid, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < groups.count && shown < ROWS_MAX; i++) {
		const struct group *row = &groups.rows[i];
		const struct process *process = profile_get_process(profile, row->process);
		CLEANUP(text_done) struct text difference = { 0 };

		if (!process || process->cpu_ns == 0)
			continue;
		number_add_signed_time(&difference, unit,
				       (double)row->cost.total_ns - (double)process->cpu_ns);
		grid_add_time(&grid, unit, process->cpu_ns);
		grid_add_time(&grid, unit, row->cost.total_ns);
		grid_addf(&grid, TINT_NONE, "%s", text_string(&difference));
		grid_add_count(&grid, row->cost.total_samples);
		process_cell_add(&grid, TINT_NONE, process, row->name);
		shown++;
	}
	if (shown > 0) {
		add_title(out, style,
			  "What the kernel charged to processes, and what samples and rows in "
			  "brackets stand for:");
		grid_write(&grid, style, out);
	}
	grid_done(&grid);
	groups_done(&groups);
}

void accuracy_add(const struct profile *profile, const struct style *style, struct text *out)
{
	const struct profile_info *info = profile_get_info(profile);

	head_add_command(out, style, info);
	head_add_time(out, style, profile);
	if (profile_is_trace(profile)) {
		style_add_wrapped(
			out, style, 0,
			"A trace measures each call: its times are not estimated from samples, "
			"and have no intervals. 'fathom info' shows what measuring took, and "
			"how uncertain that is.");
		text_add(out, "\n");
		return;
	}
	head_add_samples(out, style, info);
	add_top(out, style, profile);
	add_processes(out, style, profile);
}
