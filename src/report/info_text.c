/* Writes fathom info: how a recording was made, its processes and interpreters. */
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/accuracy.h"
#include "report/grid.h"
#include "report/head.h"
#include "report/number.h"
#include "report/report.h"
#include "report/process_cell.h"

static void add_when(struct text *out, const struct style *style,
		     const struct profile_info *info)
{
	char date[64] = "at an unknown time";
	struct tm tm;
	time_t seconds = (time_t)(info->start_unix_ns / 1000000000);

	if (info->start_unix_ns != FIGURE_UNKNOWN && gmtime_r(&seconds, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &tm);
	head_add_line(out, style, "recorded", "%s%s%s%s%s", date,
		      info->fathom_version ? " by fathom " : "",
		      info->fathom_version ? info->fathom_version : "",
		      info->host ? " on " : "", info->host ? info->host : "");
}

static void add_period(struct text *out, const struct style *style,
		       const struct profile_info *info)
{
	struct text text = { 0 };

	if (info->period_ns == 0)
		return;
	number_add_count(&text, info->period_ns);
	head_add_line(out, style, "period",
		      "%s ns, drawn within 5 %% of the one asked for; each process has its own",
		      text_string(&text));
	text_done(&text);
}

static void add_tally(struct text *out, const struct style *style,
		      const struct profile_info *info)
{
	static const struct grid_column columns[] = {
		{ "samples", COLUMN_RIGHT, 0 },
		{ "share %", COLUMN_RIGHT, 0 },
		{ "stacks", COLUMN_LEFT, 0 },
		{ "why the walk ended", COLUMN_TEXT, 12 },
	};
	struct grid grid;
	bool is_saturated = false;
	uint64_t all = 0;

	for (size_t i = 0; i < info->stack_tally_count; i++)
		sum_add(&all, info->stacks[i].samples, &is_saturated);
	if (all == 0)
		return;
	grid_init(&grid, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < info->stack_tally_count; i++) {
		const struct stack_tally *tally = &info->stacks[i];
		if (tally->samples == 0)
			continue;
		grid_add_count(&grid, tally->samples);
		grid_addf(&grid, TINT_NONE, "%.2f", number_percent(tally->samples, all));
		grid_add_name(&grid, TINT_NONE, tally->reason);
		grid_add_name(&grid, TINT_DIM, tally->sentence);
	}
	text_add(out, "\n");
	grid_write(&grid, style, out);
	grid_done(&grid);
}

static void add_interpreters(struct text *out, const struct style *style,
			     const struct profile_info *info)
{
	static const struct grid_column columns[] = {
		{ "processes", COLUMN_RIGHT, 0 },
		{ "interpreter", COLUMN_LEFT, 0 },
		{ "file", COLUMN_LEFT, 12 },
		{ "its functions", COLUMN_TEXT, 12 },
	};
	struct grid grid;

	if (info->interpreter_count == 0)
		return;
	grid_init(&grid, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < info->interpreter_count; i++) {
		const struct interpreter *interpreter = &info->interpreters[i];
		CLEANUP(text_done) struct text name = { 0 };

		text_addf(&name, "%s %s", interpreter->language, interpreter->version);
		grid_add_count(&grid, interpreter->process_count);
		grid_add_name(&grid, TINT_NONE, text_string(&name));
		grid_add_name(&grid, TINT_NONE, interpreter->path);
		grid_add_name(&grid, TINT_DIM,
			      interpreter->why_not ? interpreter->why_not
			      : info->is_folded    ? "are in the stacks, its own C functions "
						     "are not (report --native)"
						   : "are in the stacks");
	}
	text_add(out, "\n");
	grid_write(&grid, style, out);
	grid_done(&grid);
}

static void add_process(struct grid *grid, const struct profile *profile,
			const struct time_unit *unit, const struct group *row,
			bool has_interpreters)
{
	const struct process *process = profile_get_process(profile, row->process);

	if (process && process->cpu_ns > 0)
		grid_add_time(grid, unit, process->cpu_ns);
	else
		grid_add_name(grid, TINT_NONE, NULL);
	grid_add_time(grid, unit, row->cost.self_ns);
	grid_add_count(grid, row->cost.self_samples);
	if (process && process->period_ns > 0)
		grid_add_count(grid, process->period_ns);
	else
		grid_add_name(grid, TINT_NONE, NULL);
	grid_addf(grid, TINT_NONE, "%d", process ? process->pid : 0);
	process_cell_add(grid, TINT_NONE, process, row->name);
	if (process && process->unentered_reason)
		grid_add_name(grid, TINT_NONE, process->unentered_reason);
	else
		grid_addf(grid, TINT_NONE, "%s", "");
	if (has_interpreters && process && process->interpreter)
		grid_add_name(grid, TINT_NONE, process->interpreter);
	else if (has_interpreters)
		grid_addf(grid, TINT_NONE, "%s", "");
}

static void add_processes(struct text *out, const struct style *style,
			  const struct profile *profile)
{
	static const struct grid_column columns[] = {
		{ "charged", COLUMN_RIGHT, 0 },
		{ "accounted", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
		{ "samples", COLUMN_RIGHT, 0 },
		{ "period ns", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
		{ "pid", COLUMN_RIGHT, 0 },
		{ "process", COLUMN_LEFT, 8 },
		{ "not entered because", COLUMN_TEXT, 8 },
		{ "interpreter", COLUMN_THIRD_OUT, 0 },
	};
	const size_t column_count = sizeof columns / sizeof *columns;
	bool has_interpreters = profile_get_info(profile)->interpreter_count > 0;
	struct groups groups;
	struct grid grid;

	groups_make(profile, GROUP_BY_PROCESS, NULL, &groups);
	grid_init(&grid, columns, has_interpreters ? column_count : column_count - 1);
	for (size_t i = 0; i < groups.count; i++)
		add_process(&grid, profile, time_unit_for(groups.ns), &groups.rows[i],
			    has_interpreters);
	if (groups.count > 0) {
		text_add(out, "\n");
		grid_write(&grid, style, out);
	}
	grid_done(&grid);
	groups_done(&groups);
}

static void add_of_trace(struct text *out, const struct style *style,
			 const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	head_add_calls(out, style, profile);
	head_add_only(out, style, info);
	head_add_notes(out, style, info);
	add_interpreters(out, style, info);
}

void report_info_text(const struct profile *profile, const struct report_options *options,
		      struct text *out)
{
	struct style style = { .width = options->width, .has_color = options->has_color };
	const struct profile_info *info = profile_get_info(profile);

	if (options->is_accuracy) {
		accuracy_add(profile, &style, out);
		return;
	}
	head_add_command(out, &style, info);
	add_when(out, &style, info);
	head_add_time(out, &style, profile);
	if (profile_is_trace(profile)) {
		add_of_trace(out, &style, profile);
		return;
	}
	head_add_samples(out, &style, info);
	head_add_trigger(out, &style, info);
	add_period(out, &style, info);
	head_add_cost(out, &style, info);
	head_add_notes(out, &style, info);
	text_add(out, "\n");
	account_add(out, &style, profile, true);
	add_tally(out, &style, info);
	add_interpreters(out, &style, info);
	add_processes(out, &style, profile);
}
