#include "report/summary.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "report/head.h"
#include "report/hot.h"
#include "report/missing.h"
#include "report/nameless.h"
#include "report/next_steps.h"
#include "report/report_options.h"
#include "report/rows.h"
#include "report/selection.h"
#include "report/style.h"

enum {
	/* Rows of hot paths and of the table, if there is space for all, */
	HOT_ROWS = 10,
	TABLE_ROWS = 10,
	/* and at least, even if the top scrolls off the screen. */
	HOT_ROWS_LEAST = 6,
	TABLE_ROWS_LEAST = 3,
	/* Other lines: two titles, a blank one, and the shell's next prompt. */
	OTHER_LINES = 4,
};

/* Adds why the sampling trigger is not the best one, if so. */
static void add_trigger(struct text *out, const struct style *style,
			const struct profile_info *info)
{
	if (!info->trigger || !info->trigger_why || strcmp(info->trigger, "timer") != 0)
		return;
	head_add_line(out, style, "timers", "%s", info->trigger_why);
}

/* Adds remarks about the recording other than figures. */
static void add_remarks(const struct selection *selection, const struct report_options *options,
			const struct style *style, struct text *out)
{
	const struct profile_info *info = profile_get_info(selection->profile);

	const size_t before = out->len;

	nameless_add(selection, options, style, out);
	add_trigger(out, style, info);
	head_add_notes_of_summary(out, style, info);
	if (out->len > before)
		text_add(out, "\n");
}

static size_t count_lines(const struct text *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* How many rows of hot paths and table fit on one screen. */
static size_t rows_that_fit(const struct report_options *options, size_t other_lines)
{
	const size_t least = HOT_ROWS_LEAST + TABLE_ROWS_LEAST;

	if (options->height == 0)
		return SIZE_MAX;
	return options->height > other_lines + least ? options->height - other_lines : least;
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void add_tables(const struct selection *selection, const struct packages *packages,
		       const struct report_options *options, const struct style *style,
		       size_t rows, struct text *out)
{
	struct report_options table = *options;
	CLEANUP(text_done) struct text hot = { 0 };
	const size_t hot_rows = rows > HOT_ROWS_LEAST + 2 * TABLE_ROWS_LEAST
					? rows - 2 * TABLE_ROWS_LEAST
					: HOT_ROWS_LEAST;

	hot_add(selection, packages, at_most(hot_rows, HOT_ROWS), style, &hot);
	text_add(out, text_string(&hot));
	/* Its title and the blank line after it are not rows. */
	const size_t taken = hot.len > 0 ? count_lines(&hot) - 2 : 0;
	const size_t left = rows > taken + TABLE_ROWS_LEAST ? rows - taken : TABLE_ROWS_LEAST;

	/* If the screen limits the table, there is no line to mention omitted rows. */
	table.has_no_rest = left <= TABLE_ROWS;
	table.has_no_starts = head_says_starts(selection->profile);
	table.max_rows = at_most(left, TABLE_ROWS);
	report_table_add(selection, &table, style, out);
}

void summary_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out)
{
	const struct packages_options own = { .own = options->own,
					      .is_all_own = options->is_all_own };
	CLEANUP(packages_freep)
	struct packages *packages = packages_new(selection->profile, &own);
	CLEANUP(text_done) struct text head = { 0 };
	CLEANUP(text_done) struct text end = { 0 };
	/*
	 * For a process that hardly ran, tables would have a single row, of time without
	 * samples.
	 */
	const bool has_tables = !head_is_idle(selection->profile);

	if (!options->is_after_recording)
		head_add_recorded_command(&head, style, selection->profile);
	head_add_summary(&head, style, selection->profile);
	/* Missing time is not in the percentages. */
	if (!head_is_brief(selection->profile) &&
	    (selection->filter ||
	     !missing_has_unexplained(profile_get_info(selection->profile))))
		selection_add_base(selection, style, &head);
	text_add(&head, "\n");
	text_add(&end, has_tables ? "\n" : "");
	add_remarks(selection, options, style, &end);
	next_steps_add(selection, packages, options, style, &end);

	text_add(out, text_string(&head));
	if (has_tables)
		add_tables(selection, packages, options, style,
			   rows_that_fit(options, count_lines(&head) + count_lines(&end) +
							  OTHER_LINES +
							  options->is_after_recording),
			   out);
	text_add(out, text_string(&end));
}
