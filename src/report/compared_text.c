/* Writes a comparison of two sets of runs as text. */
#include "report/compared.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/compare.h"
#include "profile/group.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/places.h"
#include "report/report_options.h"
#include "report/style.h"

enum { ROWS_DEFAULT = 5, TITLE_COLUMNS = 8 };

static const char *const words[VERDICT_COUNT] = {
	[VERDICT_CANNOT_TELL] = "cannot tell",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_FASTER] = "faster",
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_NEW] = "new",
	[VERDICT_GONE] = "gone",
};

static uint64_t in_ns(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

static double off_of(const struct change *change)
{
	return (change->high_ns - change->low_ns) / 2;
}

/* "+12.3 %", or blank if the time before was 0. */
static void add_percent(struct text *out, const struct change *change)
{
	if (change->before_ns > 0)
		text_addf(out, "%+.1f %%", 100 * change_share(change));
}

static enum tint tint_of(enum verdict verdict)
{
	return verdict == VERDICT_SLOWER || verdict == VERDICT_NEW    ? TINT_HOT
	       : verdict == VERDICT_FASTER || verdict == VERDICT_GONE ? TINT_BOLD
								      : TINT_DIM;
}

/* title is padded to TITLE_COLUMNS. */
static void add_side(struct text *out, const struct style *style, const char *title,
		     const char *const *paths, size_t count)
{
	CLEANUP(text_done) struct text sentence = { 0 };

	text_addf(&sentence, "%zu recording%s: ", count, count == 1 ? "" : "s");
	text_add_printable(&sentence, paths[0], strlen(paths[0]));
	if (count > 1) {
		text_add(&sentence, " … ");
		text_add_printable(&sentence, paths[count - 1], strlen(paths[count - 1]));
	}
	text_add(out, title);
	style_add_wrapped(out, style, TITLE_COLUMNS, text_string(&sentence));
	text_add(out, "\n");
}

void compared_add_change(const char *title, const struct change *change, bool is_over_runs,
			 const struct style *style, struct text *out)
{
	const struct time_unit *unit = time_unit_for(in_ns(change->before_ns));

	text_add(out, title);
	number_add_time(out, unit, in_ns(change->before_ns));
	text_add(out, " → ");
	number_add_time(out, unit, in_ns(change->after_ns));
	text_add(out, "  ");
	add_percent(out, change);
	if (is_over_runs && change->before_ns > 0)
		text_addf(out, " ±%.1f", 100 * off_of(change) / change->before_ns);
	text_add(out, "  ");
	style_add(out, style, tint_of(change->verdict), words[change->verdict]);
	text_add(out, "\n");
}

/* Adds how small a change could have been detected, and what was not compared. */
static void add_limits(const struct comparison *comparison, const struct style *style,
		       struct text *out)
{
	CLEANUP(text_done) struct text sentence = { 0 };

	if (!comparison->is_over_runs)
		text_add(
			&sentence,
			comparison->is_trace
				? "Runs were not compared: how much their times vary by chance "
				  "is known from two recordings a side on."
				: "Runs were not compared: how much their times vary by chance "
				  "is known from two recordings a side on. Verdicts are by the "
				  "confidence intervals of these.");
	else if (comparison->whole.before_ns > 0)
		text_addf(&sentence,
			  "A change of the total by %.1f %% would have been seen in four of "
			  "five comparisons.",
			  100 * comparison->least_seen_ns / comparison->whole.before_ns);
	if (comparison->common.is_taken_out)
		text_addf(&sentence,
			  " Runs differ by %.0f %% in overall speed, which is taken out "
			  "of the rows below.",
			  100 * comparison->common.noise);
	style_add_wrapped(out, style, 0, text_string(&sentence));
	text_add(out, "\n");
}

static const struct grid_column sampled_columns[] = {
	{ "before", COLUMN_RIGHT, 0 },         { "after", COLUMN_RIGHT, 0 },
	{ "change", COLUMN_RIGHT, 0 },         { "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },
	{ "verdict", COLUMN_LEFT, 0 },         { "self time of", COLUMN_NAME, 12 },
	{ "file:line", COLUMN_FIRST_OUT, 10 },
};
static const struct grid_column traced_columns[] = {
	{ "calls before", COLUMN_RIGHT, 0 }, { "after", COLUMN_RIGHT, 0 },
	{ "self time", COLUMN_RIGHT, 0 },    { "after", COLUMN_RIGHT, 0 },
	{ "change", COLUMN_RIGHT, 0 },       { "verdict", COLUMN_LEFT, 0 },
	{ "function", COLUMN_NAME, 12 },     { "file:line", COLUMN_FIRST_OUT, 10 },
};

static void add_name(struct grid *grid, const struct compared *row)
{
	CLEANUP(text_done) struct text name = { 0 };

	text_add(&name, row->name);
	if (row->former_name)
		text_addf(&name, " (was %s)", row->former_name);
	grid_add_name(grid, TINT_NONE, text_string(&name));
}

static void add_place(struct grid *grid, const struct compared *row)
{
	const struct group place = { .file = row->file, .line = row->line };
	CLEANUP(text_done) struct text text = { 0 };

	places_add(&text, &place, 1);
	grid_add_name(grid, TINT_DIM, text_string(&text));
}

static void add_row(struct grid *grid, const struct comparison *comparison,
		    const struct compared *row, const struct time_unit *unit)
{
	const struct change *change = &row->self;
	CLEANUP(text_done) struct text share = { 0 };

	add_percent(&share, change);
	if (comparison->is_trace) {
		grid_add_count(grid, in_ns(row->calls_before));
		grid_add_count(grid, in_ns(row->calls_after));
	}
	grid_add_time(grid, unit, in_ns(change->before_ns));
	grid_add_time(grid, unit, in_ns(change->after_ns));
	grid_addf(grid, tint_of(change->verdict), "%s", text_string(&share));
	if (!comparison->is_trace && change->before_ns > 0 && off_of(change) > 0)
		grid_addf(grid, TINT_DIM, "±%.1f", 100 * off_of(change) / change->before_ns);
	else if (!comparison->is_trace)
		grid_addf(grid, TINT_DIM, "%s", "");
	grid_addf(grid, tint_of(change->verdict), "%s", words[change->verdict]);
	add_name(grid, row);
	add_place(grid, row);
}

static bool is_changed(const struct comparison *comparison, const struct compared *row)
{
	if (comparison->is_trace && in_ns(row->calls_before) != in_ns(row->calls_after))
		return true;
	return row->self.verdict != VERDICT_CANNOT_TELL &&
	       row->self.verdict != VERDICT_UNCHANGED;
}

static void add_rest(const struct comparison *comparison, enum group_by by, size_t hidden,
		     const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };
	const char *noun = group_by_name(by);
	const size_t *counts = comparison->counts;

	if (hidden > 0)
		text_addf(out, "… %zu more %s%s changed (-n 0 shows all)\n", hidden, noun,
			  hidden == 1 ? "" : "s");
	text_addf(&line, "%zu %s%s unchanged (within %.0f %%), %zu too uncertain to tell.",
		  counts[VERDICT_UNCHANGED], noun, counts[VERDICT_UNCHANGED] == 1 ? "" : "s",
		  100 * comparison->margin, counts[VERDICT_CANNOT_TELL]);
	style_add_wrapped(out, style, 0, text_string(&line));
	text_add(out, "\n");
}

static void add_table(const struct comparison *comparison,
		      const struct compared_options *options, const struct style *style,
		      struct text *out)
{
	const size_t limit = options->max_rows ? options->max_rows : ROWS_DEFAULT;
	const bool is_all = options->max_rows == REPORT_ALL_ROWS;
	const struct time_unit *unit = time_unit_for(in_ns(comparison->whole.before_ns));
	size_t shown = 0, changed = 0;
	struct grid grid;

	if (comparison->is_trace)
		grid_init(&grid, traced_columns,
			  sizeof traced_columns / sizeof *traced_columns);
	else
		grid_init(&grid, sampled_columns,
			  sizeof sampled_columns / sizeof *sampled_columns);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *row = &comparison->rows[i];

		changed += is_changed(comparison, row);
		if (shown < limit && (is_all || is_changed(comparison, row))) {
			add_row(&grid, comparison, row, unit);
			shown++;
		}
	}
	if (shown > 0) {
		text_add(out, "\n");
		grid_write(&grid, style, out);
	} else {
		text_addf(out, "No %s changed by more than chance explains.\n",
			  group_by_name(options->by));
	}
	add_rest(comparison, options->by, changed > shown ? changed - shown : 0, style, out);
	grid_done(&grid);
}

void compared_add_text(const struct comparison *comparison,
		       const struct compared_options *options, struct text *out)
{
	const struct style style = { options->width, options->has_color };

	add_side(out, &style, "before  ", options->paths[0], comparison->runs[0]);
	add_side(out, &style, "after   ", options->paths[1], comparison->runs[1]);
	compared_add_change("total   ", &comparison->whole, comparison->is_over_runs, &style,
			    out);
	add_limits(comparison, &style, out);
	add_table(comparison, options, &style, out);
}
