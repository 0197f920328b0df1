/* Writes the head of a summary, of at most four lines, and the one-line head of other views. */
#include "report/head.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/head_internal.h"
#include "report/missing.h"
#include "report/number.h"
#include "report/shell_word.h"

enum {
	/* Per cent: programs with less of the time are not mentioned, */
	PROGRAM_LEAST = 1,
	PROGRAMS_SHOWN = 6,
	/* nor are starts and ends of processes that have less in total. */
	STARTS_LEAST = 5,
	/* With fewer samples no share means anything, */
	SAMPLES_LEAST = 20,
	/* and a run as short can easily be repeated. */
	BRIEF_NS = 100000000,
};

/* One line, cut at the terminal's width. */
static void add_cut_line(struct text *out, const struct style *style, const char *label,
			 const struct text *sentence)
{
	CLEANUP(text_done) struct text safe = { 0 };
	const unsigned int taken = label ? LABEL_COLUMNS : 0;

	if (label) {
		style_add(out, style, TINT_BOLD, label);
		text_addf(out, "%*s", LABEL_COLUMNS - (int)strlen(label), "");
	}
	text_add_printable(&safe, text_string(sentence), sentence->len);
	style_add_cut_end(out, text_string(&safe),
			  style->width > taken ? style->width - taken : SIZE_MAX);
	text_add(out, "\n");
}

static void add_command_words(struct text *text, const struct profile_info *info)
{
	for (size_t i = 0; i < info->command_count; i++) {
		text_add(text, i > 0 ? " " : "");
		shell_word_add(text, info->command[i]);
	}
}

/* Adds a part only if the line has space for it. */
static void add_if_room(struct text *text, const struct style *style, size_t count,
			const char *one, const char *many)
{
	CLEANUP(text_done) struct text more = { 0 };

	text_addf(&more, "%s%zu %s", text->len > 0 ? ", " : "", count, count == 1 ? one : many);
	if (!style->width || LABEL_COLUMNS + text_columns(text_string(text)) +
					     text_columns(text_string(&more)) <=
				     style->width)
		text_add(text, text_string(&more));
}

static void add_short_time(struct text *out, const struct style *style,
			   const struct profile *profile, bool names_programs)
{
	const size_t processes = profile_process_count(profile);
	const size_t threads = profile_thread_count(profile);
	CLEANUP(text_done) struct text text = { 0 };

	if (profile_is_wall(profile)) {
		head_add_wall_time(out, style, profile);
		return;
	}
	head_cpu_time(&text, profile);
	if (processes > 1 && !names_programs)
		add_if_room(&text, style, processes, "process", "processes");
	if (processes <= 1 || threads != processes)
		add_if_room(&text, style, threads, "thread", "threads");
	head_end(&text, profile);
	head_add_line(out, style, "time", "%s", text_string(&text));
}

/* The share of the CPU time that all processes' starts and ends have, in per cent. */
static double starts_percent(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	uint64_t ns = 0;
	bool is_saturated = false;

	if (info->startup_ns != FIGURE_UNKNOWN)
		sum_add(&ns, info->startup_ns, &is_saturated);
	if (info->exit_ns != FIGURE_UNKNOWN)
		sum_add(&ns, info->exit_ns, &is_saturated);
	return number_percent(ns, account_cpu_ns(info));
}

bool head_says_starts(const struct profile *profile)
{
	return profile_process_count(profile) > 1 && !profile_is_wall(profile) &&
	       !profile_is_trace(profile) && starts_percent(profile) >= STARTS_LEAST;
}

/*
 * Adds "3 processes: cc1 96 %, as 3 %" if more than one program has a share worth mentioning;
 * "145 processes, 42 % their starts and ends: …" if starts and ends have one.
 */
static void find_programs(struct text *out, const struct profile *profile)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct groups groups;
	size_t count = 0;

	if (profile_is_wall(profile) || profile_is_trace(profile))
		return;
	groups_make(profile, GROUP_BY_PROGRAM, NULL, &groups);
	for (; count < groups.count && count < PROGRAMS_SHOWN; count++) {
		const struct group *row = &groups.rows[count];
		const double percent = number_percent(row->cost.self_ns, groups.ns);

		if (percent < PROGRAM_LEAST)
			break;
		text_addf(&text, "%s%s %.0f %%", count > 0 ? ", " : "", row->name, percent);
	}
	groups_done(&groups);
	if (count < 2 && !head_says_starts(profile))
		return;
	number_add_count(out, profile_process_count(profile));
	text_add(out, " processes");
	if (head_says_starts(profile))
		text_addf(out, ", %.0f %% their starts and ends", starts_percent(profile));
	text_addf(out, ": %s", text_string(&text));
}

static void head_add_missing(struct text *out, const struct style *style,
			     const struct profile *profile)
{
	static const char see[] = "; see 'fathom info'";
	CLEANUP(text_done) struct text text = { 0 };
	const bool is_brief = head_is_brief(profile);
	const size_t parts = missing_add(&text, profile, is_brief, false);

	/* Reasons are given for a single part, or if they fit. */
	if (parts > 1 && LABEL_COLUMNS + text_columns(text_string(&text)) + strlen(see) >
				 style_wrap_width(style)) {
		text_clear(&text);
		missing_add(&text, profile, is_brief, true);
	}
	if (parts > 0)
		head_add_line(out, style, "missing", "%s%s", text_string(&text), see);
}

static void add_sampled(struct text *text, const struct profile_info *info)
{
	if (info->is_wall) {
		text_add(text, " and reads of waits");
	} else if (info->sampled_ns > 0 && info->sampled_ns != FIGURE_UNKNOWN) {
		text_add(text, " at ");
		number_add_count(text, (uint64_t)((double)info->samples * 1e9 /
							  (double)info->sampled_ns +
						  0.5));
		text_add(text, " Hz of CPU time");
	}
	if (info->lost == 0)
		text_add(text, ", none lost");
	if (info->sampling_cost_ns != FIGURE_UNKNOWN && !info->is_wall) {
		text_add(text, "; sampling took ");
		head_cost_share(text, info->sampling_cost_ns, account_cpu_ns(info));
	}
}

bool head_is_brief(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	return !profile_is_trace(profile) && !profile_is_wall(profile) &&
	       account_cpu_ns(info) > 0 && info->samples < SAMPLES_LEAST &&
	       account_cpu_ns(info) < BRIEF_NS && !info->is_unfinished;
}

bool head_is_idle(const struct profile *profile)
{
	return profile_get_info(profile)->pids && head_is_brief(profile);
}

static void add_brief(struct text *out, const struct style *style,
		      const struct profile_info *info)
{
	if (info->pids)
		head_add_line(out, style, "idle", "it hardly ran: too little for shares of it");
	else
		head_add_line(out, style, "brief",
			      "too short for %s: sample it more often, or record many runs",
			      info->samples == 0 ? "a sample" : "more than a few samples");
}

static void add_work(struct text *text, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	if (profile_is_trace(profile)) {
		number_add_count(text, info->calls);
		text_addf(text, " call%s traced", head_plural(info->calls));
	} else {
		number_add_count(text, info->samples);
		text_addf(text, " sample%s", head_plural(info->samples));
	}
}

void head_add_recorded_command(struct text *out, const struct style *style,
			       const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text command = { 0 };

	add_command_words(&command, info);
	if (info->command_count > 0)
		add_cut_line(out, style, "command", &command);
}

void head_add_summary(struct text *out, const struct style *style,
		      const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text samples = { 0 };
	CLEANUP(text_done) struct text programs = { 0 };

	find_programs(&programs, profile);
	add_short_time(out, style, profile, programs.len > 0);
	head_add_children(out, style, profile);
	if (programs.len > 0)
		add_cut_line(out, style, "programs", &programs);
	if (profile_is_trace(profile)) {
		head_add_calls(out, style, profile);
		head_add_only(out, style, info);
	} else {
		number_add_count(&samples, info->samples);
		add_sampled(&samples, info);
		head_add_line(out, style, "samples", "%s", text_string(&samples));
	}
	head_add_limits(out, style, profile);
	/* If hardly anything ran, parts of it mean nothing. */
	if (!head_is_idle(profile))
		head_add_missing(out, style, profile);
	if (head_is_brief(profile))
		add_brief(out, style, info);
}

void head_add_short(struct text *out, const struct style *style, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(text_done) struct text text = { 0 };

	if (profile_is_wall(profile)) {
		head_wall_time(&text, profile);
		text_add(&text, "; ");
	} else {
		head_cpu_time(&text, profile);
		text_add(&text, text.len > 0 ? ", " : "");
	}
	add_work(&text, profile);
	if (info->command_count > 0) {
		text_add(&text, ": ");
		add_command_words(&text, info);
	}
	add_cut_line(out, style, NULL, &text);
	head_add_only(out, style, info);
	head_add_limits(out, style, profile);
	head_add_missing(out, style, profile);
}
