#include "report/listing.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/find.h"
#include "profile/lines.h"
#include "profile/profile.h"
#include "report/grid.h"
#include "report/listed.h"
#include "report/listing_internal.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"
#include "report/source.h"
#include "report/style.h"

enum {
	TAB = 8,
	HOT_PERCENT = 10, /* of the function's total: lines with more are marked */
	PARTS_MAX = 8,    /* functions of one name, unless all rows are requested */
};

/* Context for writing every part. */
struct listing {
	const struct selection *selection;
	const struct report_options *options;
	const struct style *style;
	const struct time_unit *unit;
	struct text *out;
};

/* Shares of samples have intervals; times of calls are exact. */
static const struct grid_column sampled_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },
	{ "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },
	{ "self time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "total %", COLUMN_RIGHT, 0 },
	{ "±", COLUMN_RIGHT | COLUMN_INTERVAL, 0 },
	{ "total time", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "line", COLUMN_RIGHT, 0 },
	{ "source", COLUMN_TEXT | COLUMN_SOURCE, 24 },
};
static const struct grid_column traced_columns[] = {
	{ "self %", COLUMN_RIGHT, 0 },  { "self time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "total %", COLUMN_RIGHT, 0 }, { "total time", COLUMN_RIGHT | COLUMN_FIRST_OUT, 0 },
	{ "line", COLUMN_RIGHT, 0 },    { "source", COLUMN_TEXT | COLUMN_SOURCE, 24 },
};

enum {
	SAMPLED_COLUMNS = sizeof sampled_columns / sizeof *sampled_columns,
	TRACED_COLUMNS = sizeof traced_columns / sizeof *traced_columns,
	BEHIND_COSTS = 2, /* columns after the costs: line and source */
};

static bool is_trace(const struct listing *listing)
{
	return profile_is_trace(listing->selection->profile);
}

static void add_sampled_cost(const struct listing *listing, struct grid *grid,
			     const struct cost *cost)
{
	const uint64_t whole_ns = listing->selection->ns;

	grid_add_share(grid, cost->self_ns, whole_ns, &cost->intervals.self);
	grid_add_half_width(grid, cost->self_ns, whole_ns, &cost->intervals.self);
	grid_add_time(grid, listing->unit, cost->self_ns);
	grid_add_share(grid, cost->total_ns, whole_ns, &cost->intervals.total);
	grid_add_half_width(grid, cost->total_ns, whole_ns, &cost->intervals.total);
	grid_add_time(grid, listing->unit, cost->total_ns);
}

static void add_cost(const struct listing *listing, struct grid *grid, const struct cost *cost)
{
	const size_t count =
		(is_trace(listing) ? TRACED_COLUMNS : SAMPLED_COLUMNS) - BEHIND_COSTS;

	for (size_t i = 0; i < count && !cost; i++)
		grid_addf(grid, TINT_NONE, "%s", "");
	if (!cost)
		return;
	if (!is_trace(listing)) {
		add_sampled_cost(listing, grid, cost);
		return;
	}
	grid_add_percent(grid, number_percent(cost->self_ns, listing->selection->ns));
	grid_add_time(grid, listing->unit, cost->self_ns);
	grid_add_percent(grid, number_percent(cost->total_ns, listing->selection->ns));
	grid_add_time(grid, listing->unit, cost->total_ns);
}

/* Expands tabs as an editor does; escapes everything else that a terminal would act on. */
static void add_source_cell(struct grid *grid, enum tint tint, const char *line)
{
	struct text cell = { 0 };
	size_t at = 0;

	for (size_t len; *line; line += len) {
		len = strcspn(line, "\t");
		text_add_printable(&cell, line, len);
		at = text_columns(text_string(&cell));
		if (line[len] != '\t')
			continue;
		text_addf(&cell, "%*s", (int)(TAB - at % TAB), "");
		len++;
	}
	while (cell.len > 0 && cell.data[cell.len - 1] == ' ')
		cell.data[--cell.len] = '\0';
	grid_addf(grid, tint, "%s", text_string(&cell));
	text_done(&cell);
}

static void add_row(const struct listing *listing, struct grid *grid,
		    const struct listed_row *row, const struct lines_part *part,
		    const struct source *source)
{
	const struct cost *cost = row->cost ? &row->cost->cost : NULL;
	bool is_hot = cost && cost->total_ns > 0 &&
		      number_percent(cost->total_ns, part->cost.total_ns) >= HOT_PERCENT;
	enum tint tint = is_hot ? TINT_HOT : cost ? TINT_NONE : TINT_DIM;

	add_cost(listing, grid, cost);
	if (row->line > 0)
		grid_addf(grid, tint, "%s%u", is_hot ? "> " : "", row->line);
	else
		grid_addf(grid, TINT_DIM, "%s", cost ? "?" : "…");
	if (!source)
		return;
	if (row->line > 0)
		add_source_cell(grid, tint, source_line(source, row->line));
	else if (cost)
		grid_addf(grid, TINT_DIM, "%s", "(the line is not known)");
	else
		grid_addf(grid, TINT_DIM, "… %u line%s", row->skipped,
			  row->skipped == 1 ? "" : "s");
}

static void add_hidden(const struct listing *listing, size_t hidden)
{
	struct text sentence = { 0 };

	if (hidden == 0)
		return;
	text_add(&sentence, "… ");
	number_add_count(&sentence, hidden);
	text_addf(&sentence, " lighter line%s left out (--min and -n decide)",
		  hidden == 1 ? "" : "s");
	style_add(listing->out, listing->style, TINT_DIM, text_string(&sentence));
	text_add(listing->out, "\n");
	text_done(&sentence);
}

static struct listed_limits limits_of(const struct listing *listing)
{
	const struct report_options *options = listing->options;
	double least = options->has_min_percent ? options->min_percent : 0;

	return (struct listed_limits){
		.least_ns = (uint64_t)(least / 100 * (double)listing->selection->ns),
		.max_lines = options->max_rows == REPORT_ALL_ROWS ? 0 : options->max_rows,
	};
}

static void add_rows(const struct listing *listing, const struct lines_part *part,
		     const struct source *source)
{
	struct listed listed;
	struct grid grid;

	listed_make(part, profile_get_function(listing->selection->profile, part->function),
		    source, limits_of(listing), &listed);
	grid_init(&grid, is_trace(listing) ? traced_columns : sampled_columns,
		  (is_trace(listing) ? TRACED_COLUMNS : SAMPLED_COLUMNS) - !source);
	for (size_t i = 0; i < listed.count; i++)
		add_row(listing, &grid, &listed.rows[i], part, source);
	if (listed.count > 0)
		grid_write(&grid, listing->style, listing->out);
	add_hidden(listing, listed.hidden);
	grid_done(&grid);
	listed_done(&listed);
}

/* Adds a sentence that may contain unsafe bytes of names. */
static void add_sentence(const struct listing *listing, const char *sentence)
{
	struct text safe = { 0 };

	text_add_printable(&safe, sentence, strlen(sentence));
	style_add_wrapped(listing->out, listing->style, 0, text_string(&safe));
	text_add(listing->out, "\n");
	text_done(&safe);
}

/* Adds "/srv/app/worker.py: 1.204 s of its own, 2.160 s with what it calls". */
static void add_part_head(const struct listing *listing, const struct lines_part *part)
{
	const struct profile *profile = listing->selection->profile;
	const struct function *function = profile_get_function(profile, part->function);
	const struct module *module = profile_get_module(profile, function->module);
	struct text head = { 0 };

	text_add(&head, part->file ? part->file : module ? module->path : function->name);
	text_add(&head, ": ");
	number_add_any_time(&head, part->cost.self_ns);
	text_add(&head, " of its own, ");
	number_add_any_time(&head, part->cost.total_ns);
	text_add(&head, " with what it calls");
	add_sentence(listing, text_string(&head));
	text_done(&head);
}

static void add_part(const struct listing *listing, const struct lines_part *part)
{
	struct source source = { 0 };
	struct error why;
	int rc = listing_read_source(listing->selection->profile, part, &source, &why);

	text_add(listing->out, "\n");
	add_part_head(listing, part);
	if (rc < 0) {
		error_wrap(&why, rc, "no source");
		add_sentence(listing, why.text);
	} else if (source.is_younger) {
		add_sentence(listing,
			     "The file was changed while its program was recorded: the "
			     "code that ran may have been on other lines.");
	}
	/* A single row of an unknown line would only repeat the head. */
	if (rc == 0 || part->rows[part->count - 1].line > 0)
		add_rows(listing, part, rc < 0 ? NULL : &source);
	source_done(&source);
}

/*
 * Adds how many parts are not shown: every imported file has a function "<module>", or "<top
 * (required)>".
 */
static void add_rest(const struct listing *listing, const struct lines *lines, size_t shown)
{
	struct text sentence = { 0 };
	size_t hidden = lines->part_count - shown;

	if (hidden == 0)
		return;
	const bool is_python =
		profile_get_function(listing->selection->profile, lines->parts[shown].function)
			->language == LANGUAGE_PYTHON;

	text_add(&sentence, "… ");
	number_add_count(&sentence, hidden);
	text_addf(&sentence, " lighter one%s of this name (-n 0 shows all%s)",
		  hidden == 1 ? "" : "s", is_python ? ", MODULE.NAME one" : "");
	text_add(listing->out, "\n");
	style_add(listing->out, listing->style, TINT_DIM, text_string(&sentence));
	text_add(listing->out, "\n");
	text_done(&sentence);
}

/* Adds "Lines of Worker.run: 2.160 s, 42.5 % of 5.080 s." */
static void add_head(const struct listing *listing, const struct found *found,
		     const struct lines *lines)
{
	uint64_t whole = listing->selection->ns;
	struct text head = { 0 };

	text_add(&head, "Lines of ");
	style_add_function(&head, listing->style, found->name);
	text_add(&head, ": ");
	number_add_any_time(&head, lines->cost.total_ns);
	text_addf(&head, ", %.1f %% of ", number_percent(lines->cost.total_ns, whole));
	number_add_any_time(&head, whole);
	text_add(&head, ".");
	add_sentence(listing, text_string(&head));
	text_done(&head);
}

int listing_add(const struct selection *selection, const struct report_options *options,
		const struct style *style, struct text *out, struct error *err)
{
	struct listing listing = { .selection = selection,
				   .options = options,
				   .style = style,
				   .unit = time_unit_for(selection->ns),
				   .out = out };
	CLEANUP(lines_done) struct lines lines = { 0 };
	CLEANUP(found_done) struct found found = { 0 };
	int rc = find_functions(selection->profile, options->lines, &found, err);

	if (rc < 0)
		return rc;
	lines_make(selection->profile, selection->filter, found.is_meant, &lines);
	add_head(&listing, &found, &lines);
	size_t shown = lines.part_count;

	if (shown > PARTS_MAX && options->max_rows != REPORT_ALL_ROWS)
		shown = PARTS_MAX;
	for (size_t i = 0; i < shown; i++)
		add_part(&listing, &lines.parts[i]);
	add_rest(&listing, &lines, shown);
	return 0;
}
