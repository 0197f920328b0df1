#include "report/blame.h"

#include "base/memory.h"
#include "base/text.h"
#include "profile/blame.h"
#include "profile/info.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "profile/thread_kinds.h"
#include "report/blame_cells.h"
#include "report/blame_pairs.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"

enum {
	STACKS = 3,
	LABEL_COLUMNS = 8,
	CHAIN_WIDTH = 100,
	/* Per cent of a part: a row with less is left out, unless all rows are requested. */
	ROW_LEAST = 1,
};

/* What all rows of one part have in common. */
struct part_terms {
	enum blame_part part;
	size_t rows;       /* unless the user gave a number */
	const char *title; /* follows a time */
	const struct grid_column *columns;
	size_t column_count;
};

static const struct grid_column held_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "waited for", COLUMN_LEFT, 10 },
	{ "held by", COLUMN_LEFT, 8 },
	{ "which executed", COLUMN_LEFT | COLUMN_LABEL, 14 }, /* never cut */
	{ "made wait", COLUMN_LEFT | COLUMN_FIRST_OUT, 8 },
	{ "in", COLUMN_LEFT | COLUMN_LABEL, 10 },
};
static const struct grid_column end_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "end of", COLUMN_LEFT, 8 },
	{ "which executed", COLUMN_LEFT | COLUMN_LABEL, 14 },
	{ "made wait", COLUMN_LEFT | COLUMN_FIRST_OUT, 8 },
	{ "in", COLUMN_LEFT | COLUMN_LABEL, 10 },
};
static const struct grid_column cpu_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },   { "time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "which ran", COLUMN_LEFT, 9 }, { "and executed", COLUMN_LEFT | COLUMN_LABEL, 14 },
	{ "made wait", COLUMN_LEFT, 8 },
};
static const struct grid_column unowned_columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "waited for", COLUMN_LEFT, 10 },
	{ "made wait", COLUMN_LEFT | COLUMN_FIRST_OUT, 8 },
	{ "in", COLUMN_LEFT | COLUMN_LABEL, 10 },
	{ "why no holder is known", COLUMN_TEXT | COLUMN_SECOND_OUT, 16 },
};
#define COLUMNS(array) array, sizeof array / sizeof *(array)
static const struct part_terms parts[BLAME_PART_COUNT] = {
	{ BLAME_HELD, 10, "waits for what another thread held", COLUMNS(held_columns) },
	{ BLAME_ENDS, 4, "waits for another thread's end", COLUMNS(end_columns) },
	{ BLAME_CPU, 5,
	  "waits for a CPU while other threads of the recording ran; programs that are not in "
	  "it "
	  "may have had CPUs as well",
	  COLUMNS(cpu_columns) },
	{ BLAME_UNOWNED, 8, "waits for locks and interpreters have no holder that is known",
	  COLUMNS(unowned_columns) },
};

/* Context for making all parts. */
struct making {
	const struct selection *selection;
	const struct report_options *options;
	const struct style *style;
	struct packages *packages;
	struct thread_kinds *kinds; /* NULL: each thread separately */
	struct blame_pairs pairs;
};

static void add_frame_cell(struct grid *grid, const struct making *making,
			   struct stack_id stack)
{
	const struct profile *profile = making->selection->profile;
	CLEANUP(text_done) struct text cell = { 0 };

	blame_add_frame(&cell, profile, blame_frame_of(profile, making->packages, stack));
	grid_add_name(grid, TINT_NONE, text_string(&cell));
}

static void add_row(struct grid *grid, const struct making *making, enum blame_part part,
		    const struct blame_pair *pair)
{
	const struct profile *profile = making->selection->profile;
	const struct blame *row = &pair->heaviest;

	if (part == BLAME_HELD || part == BLAME_UNOWNED)
		blame_add_object(grid, profile, row->state, row->waiter_stack);
	if (part != BLAME_UNOWNED) {
		blame_add_thread(grid, profile, making->kinds, row->owner, pair->owners);
		if (part == BLAME_CPU && pair->places > 1)
			grid_addf(grid, TINT_DIM, "code in %zu places", pair->places);
		else
			add_frame_cell(grid, making, row->owner_stack);
	}
	if (part == BLAME_HELD && pair->places > 1) {
		grid_addf(grid, TINT_DIM, "%zu thread%s", pair->waiters,
			  pair->waiters == 1 ? "" : "s");
		grid_addf(grid, TINT_DIM, "code in %zu places", pair->places);
		return;
	}
	blame_add_thread(grid, profile, making->kinds, row->waiter, pair->waiters);
	if (part != BLAME_CPU)
		add_frame_cell(grid, making, row->waiter_stack);
	if (part == BLAME_UNOWNED)
		grid_addf(grid, TINT_DIM, "%s", blame_why_unowned(profile, pair));
}

static size_t rows_of(const struct making *making, const struct part_terms *terms,
		      const struct blame_list *list)
{
	const size_t asked = making->options->max_rows;
	const size_t most = asked ? asked : terms->rows;
	size_t count = 0;

	while (count < list->count && count < most &&
	       (asked || count == 0 ||
		number_percent(list->rows[count].ns, list->ns) >= ROW_LEAST))
		count++;
	return count;
}

static void add_table(const struct making *making, const struct part_terms *terms,
		      const struct blame_list *list, struct text *out)
{
	const struct time_unit *unit = time_unit_for(list->rows[0].ns);
	const size_t shown = rows_of(making, terms, list);
	uint64_t left_ns = list->ns;
	struct grid grid;

	grid_init(&grid, terms->columns, terms->column_count);
	for (size_t i = 0; i < shown; i++) {
		const struct blame_pair *pair = &list->rows[i];

		grid_add_percent(&grid, number_percent(pair->ns, list->ns));
		grid_add_time(&grid, unit, pair->ns);
		add_row(&grid, making, terms->part, pair);
		left_ns -= pair->ns;
	}
	grid_write(&grid, making->style, out);
	grid_done(&grid);
	if (shown < list->count)
		text_addf(out, "… %zu more, %.1f %% together (-n 0 shows all, each thread's)\n",
			  list->count - shown, number_percent(left_ns, list->ns));
}

static void add_stacks(const struct making *making, const struct blame_list *list,
		       struct text *out)
{
	const struct style *style = making->style;
	const size_t count = list->count < STACKS ? list->count : STACKS;
	const size_t width = (style->width ? style->width : CHAIN_WIDTH) - LABEL_COLUMNS;

	for (size_t i = 0; i < count; i++) {
		const struct blame *row = &list->rows[i].heaviest;
		CLEANUP(text_done) struct text line = { 0 };

		if (i > 0 && number_percent(list->rows[i].ns, list->ns) < ROW_LEAST)
			break;
		text_add(&line, "\nholder  ");
		blame_add_chain(&line, making->selection->profile, row->owner_stack, width);
		text_add(&line, "\nwaiter  ");
		blame_add_chain(&line, making->selection->profile, row->waiter_stack, width);
		text_add(&line, "\n");
		style_add(out, style, TINT_DIM, text_string(&line));
	}
}

static void add_idle(const struct making *making, struct text *out)
{
	const struct blame_pairs *pairs = &making->pairs;
	CLEANUP(text_done) struct text line = { 0 };

	if (pairs->idle_threads == 0)
		return;
	number_add_any_time(&line, pairs->idle_ns);
	text_addf(&line, " of %zu thread%s that did nothing else %s no row here.",
		  pairs->idle_threads, pairs->idle_threads == 1 ? "" : "s",
		  pairs->idle_threads == 1 ? "has" : "have");
	text_add(out, "\n");
	style_add_wrapped(out, making->style, 0, text_string(&line));
	text_add(out, "\n");
}

static void add_others(const struct making *making, struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (making->pairs.others_ns == 0)
		return;
	number_add_any_time(&line, making->pairs.others_ns);
	text_add(&line,
		 " of waits for a CPU while no other thread of the recording ran: programs "
		 "that are not in it had the CPUs, or the machine's host.");
	text_add(out, "\n");
	style_add_wrapped(out, making->style, 0, text_string(&line));
	text_add(out, "\n");
}

static void add_part(const struct making *making, const struct part_terms *terms,
		     struct text *out)
{
	const struct blame_list *list = &making->pairs.parts[terms->part];
	CLEANUP(text_done) struct text line = { 0 };

	if (list->count == 0 || list->ns == 0)
		return;
	number_add_any_time(&line, list->ns);
	text_addf(&line, " of %s.", terms->title);
	text_add(out, "\n");
	style_add_wrapped(out, making->style, 0, text_string(&line));
	text_add(out, "\n\n");
	add_table(making, terms, list, out);
	if (terms->part == BLAME_HELD)
		add_stacks(making, list, out);
}

void blame_add(const struct selection *selection, const struct report_options *options,
	       const struct style *style, struct text *out)
{
	const struct profile *profile = selection->profile;
	const bool is_each = options->max_rows == REPORT_ALL_ROWS;
	const struct packages_options own = { options->own, options->is_all_own };
	CLEANUP(packages_freep) struct packages *packages = packages_new(profile, &own);
	CLEANUP(thread_kinds_freep) struct thread_kinds *kinds = thread_kinds_new(profile);
	struct making making = { .selection = selection,
				 .options = options,
				 .style = style,
				 .packages = packages,
				 .kinds = is_each ? NULL : kinds };

	blame_pairs_make(&(struct blame_pairs_terms){ profile, selection->filter, packages,
						      making.kinds },
			 &making.pairs);
	if (making.pairs.parts[BLAME_HELD].count == 0)
		text_add(out, "\nNo thread was seen to wait for what another one held.\n");
	for (size_t i = 0; i < BLAME_PART_COUNT; i++)
		add_part(&making, &parts[i], out);
	add_others(&making, out);
	add_idle(&making, out);
	if (profile_get_info(profile)->blames->is_cut)
		text_add(out, "The recording is very long: that is of its first part only.\n");
	blame_pairs_done(&making.pairs);
}
