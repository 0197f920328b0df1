#include "view/top_screen.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/number.h"

enum {
	FIGURES_COLUMNS = 34,
	NAME_LEAST = 12,
	WIDE = 100,
	NAME_STATES = 16,
	STATES_COLUMNS = 20
};

int top_screen_take_key(const char *bytes, size_t len, size_t *out_taken)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {
		{ "\033[A", TOP_KEY_UP },       { "\033[B", TOP_KEY_DOWN },
		{ "\033OA", TOP_KEY_UP },       { "\033OB", TOP_KEY_DOWN },
		{ "\033[5~", TOP_KEY_PAGE_UP }, { "\033[6~", TOP_KEY_PAGE_DOWN },
		{ "\033[H", TOP_KEY_HOME },     { "\033[1~", TOP_KEY_HOME },
	};
	size_t at = 1;

	*out_taken = len > 0;
	if (len == 0)
		return 0;
	if (bytes[0] != '\033')
		return (unsigned char)bytes[0];
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const size_t its = strlen(keys[i].sequence);

		if (len >= its && memcmp(bytes, keys[i].sequence, its) == 0) {
			*out_taken = its;
			return keys[i].key;
		}
	}
	/* Any other escape sequence ends with a letter or '~'. */
	at += len > 1 && (bytes[1] == '[' || bytes[1] == 'O');
	while (at > 1 && at < len && !(bytes[at] >= '@' && bytes[at] <= '~'))
		at++;
	*out_taken = at > 1 && at < len ? at + 1 : at;
	return 0;
}

static void scroll(struct top_state *state, int key, size_t rows)
{
	const size_t step = key == TOP_KEY_UP || key == TOP_KEY_DOWN ? 1 : rows;

	if (key == TOP_KEY_HOME)
		state->first = 0;
	else if (key == TOP_KEY_DOWN || key == TOP_KEY_PAGE_DOWN)
		state->first += step;
	else
		state->first = state->first > step ? state->first - step : 0;
}

bool top_screen_press(struct top_state *state, int key, size_t rows)
{
	static const char sorts[] = {
		[TOP_SORT_SELF] = 's',
		[TOP_SORT_TOTAL] = 't',
		[TOP_SORT_SELF_ALL] = 'S',
		[TOP_SORT_TOTAL_ALL] = 'T',
	};
	/* 'w' works on the wall clock only (cli/top_loop.c). */
	static const char views[GROUP_BY_COUNT] = {
		[GROUP_BY_STATE] = 'w',   [GROUP_BY_FUNCTION] = 'f', [GROUP_BY_THREAD] = 'h',
		[GROUP_BY_PROCESS] = 'p', [GROUP_BY_MODULE] = 'm',
	};

	for (size_t i = 0; i < sizeof sorts; i++) {
		if (key == sorts[i]) {
			state->sort = (enum top_sort)i;
			state->first = 0;
		}
	}
	for (size_t i = 0; i < GROUP_BY_COUNT; i++) {
		if (views[i] != '\0' && key == views[i]) {
			state->by = (enum group_by)i;
			state->first = 0;
		}
	}
	if (key == ' ')
		state->is_frozen = !state->is_frozen;
	if (key == 'k' || key == 'j')
		key = key == 'k' ? TOP_KEY_UP : TOP_KEY_DOWN;
	if (key >= TOP_KEY_UP)
		scroll(state, key, rows);
	return key != 'q' && key != 'Q' && key != 3 /* ^C, where it raises no signal */;
}

/* Adds a line, cut to the terminal's width. */
static void add_line(const struct top_screen *screen, enum tint tint, const char *line,
		     struct text *out)
{
	CLEANUP(text_done) struct text cut = { 0 };

	if (screen->style.width > 0)
		style_add_cut_end(&cut, line, screen->style.width);
	else
		text_add(&cut, line);
	style_add(out, &screen->style, tint, text_string(&cut));
	text_add(out, "\n");
}

static void pad(struct text *out, size_t used, size_t columns)
{
	text_addf(out, "%*s", (int)(used < columns ? columns - used : 0), "");
}

static void add_cell(const char *string, size_t columns, bool is_name, struct text *out)
{
	CLEANUP(text_done) struct text cell = { 0 };

	if (is_name)
		style_add_cut_name(&cell, string, columns);
	else
		style_add_cut(&cell, string, columns);
	text_add(out, text_string(&cell));
	pad(out, text_columns(text_string(&cell)), columns);
}

static size_t widest(const struct top_rows *top, size_t first, size_t count, bool is_place)
{
	size_t most = 0;

	for (size_t i = first; i < first + count && i < top->count; i++) {
		const struct top_row *row = &top->rows[i];
		const size_t columns = text_columns(is_place ? row->place : row->kind);

		most = columns > most ? columns : most;
	}
	return most;
}

struct columns {
	size_t name, place, kind;
	/* Current ones, and as many since the start if there is space; 0: none. */
	size_t states;
	bool has_both;
};

/* Adds "io 82 % gil 12": the states with most of a row's total time; "" if it has none. */
static void add_states(const uint64_t ns[THREAD_STATE_COUNT], struct text *out)
{
	uint64_t whole = 0;
	int first = 0, second = -1;

	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		whole += ns[state];
		if (ns[state] > ns[first])
			first = state;
	}
	for (int state = 0; state < THREAD_STATE_COUNT; state++)
		if (state != first && ns[state] > 0 && (second < 0 || ns[state] > ns[second]))
			second = state;
	if (whole == 0)
		return;
	text_addf(out, "%s %.0f %%", thread_state_name((enum thread_state)first),
		  number_percent(ns[first], whole));
	if (second >= 0 && number_percent(ns[second], whole) >= 1)
		text_addf(out, " %s %.0f", thread_state_name((enum thread_state)second),
			  number_percent(ns[second], whole));
}

/* Places and kinds get the width that they need, up to a limit; names get the rest. */
static struct columns measure(const struct top_screen *screen, size_t first, size_t count)
{
	const size_t width = screen->style.width > 0 ? screen->style.width : 100;
	struct columns columns = { .place = widest(screen->top, first, count, true),
				   .kind = widest(screen->top, first, count, false) };

	const size_t place_most = width < WIDE ? 16 : 24,
		     kind_most = width < WIDE && columns.place > 0 ? 8 : 16;

	columns.place = columns.place < place_most ? columns.place : place_most;
	columns.kind = columns.kind < kind_most ? columns.kind : kind_most;
	if (width < FIGURES_COLUMNS + NAME_LEAST + 2 + columns.place + 2 + columns.kind ||
	    (screen->top->has_states && screen->top->by != GROUP_BY_THREAD))
		columns.kind = 0;
	/* Columns of states take precedence over places. */
	if (screen->top->has_states && width < WIDE)
		columns.place = 0;
	if (width < FIGURES_COLUMNS + NAME_LEAST + 2 + columns.place)
		columns.place = 0;
	const size_t used = FIGURES_COLUMNS + (columns.place ? 2 + columns.place : 0) +
			    (columns.kind ? 2 + columns.kind : 0);

	columns.name = width > used ? width - used : 1;
	if (screen->top->has_states && columns.name >= NAME_STATES + STATES_COLUMNS + 2) {
		columns.states = STATES_COLUMNS;
		columns.has_both = columns.name >= NAME_STATES + 2 * (STATES_COLUMNS + 2) + 8;
		columns.name -= (columns.has_both ? 2 : 1) * (STATES_COLUMNS + 2);
	}
	return columns;
}

static void add_state_cells(const struct top_row *row, const struct columns *columns,
			    struct text *out)
{
	for (int i = 0; columns->states > 0 && i < (columns->has_both ? 2 : 1); i++) {
		CLEANUP(text_done) struct text cell = { 0 };

		add_states(i == 0 ? row->last_states : row->all_states, &cell);
		text_add(out, "  ");
		add_cell(text_string(&cell), columns->states, false, out);
	}
}

static void add_row(const struct top_screen *screen, const struct top_row *row,
		    const struct columns *columns, struct text *out)
{
	const struct top_rows *top = screen->top;
	const double last = number_percent(row->last.self_ns, top->last_ns);
	CLEANUP(text_done) struct text line = { 0 };

	text_addf(&line, "%6.1f  %7.1f  ", last,
		  number_percent(row->last.total_ns, top->last_ns));
	text_addf(&line, "%6.1f  %7.1f  ", number_percent(row->all.self_ns, top->all_ns),
		  number_percent(row->all.total_ns, top->all_ns));
	add_cell(row->name, columns->name, true, &line);
	add_state_cells(row, columns, &line);
	if (columns->place > 0) {
		text_add(&line, "  ");
		add_cell(row->place, columns->place, false, &line);
	}
	if (columns->kind > 0) {
		text_add(&line, "  ");
		add_cell(row->kind, columns->kind, false, &line);
	}
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	add_line(screen, style_tint_of(last), text_string(&line), out);
}

static void add_head(const struct top_screen *screen, const struct columns *columns,
		     struct text *out)
{
	static const char *const whats[GROUP_BY_COUNT] = {
		[GROUP_BY_FUNCTION] = "function", [GROUP_BY_THREAD] = "thread",
		[GROUP_BY_PROCESS] = "process",   [GROUP_BY_MODULE] = "module",
		[GROUP_BY_STATE] = "state",
	};
	CLEANUP(text_done) struct text line = { 0 };
	const enum top_sort sort = screen->state->sort;

	add_line(screen, TINT_BOLD, screen->title, out);
	add_line(screen, TINT_NONE, screen->status, out);
	add_line(screen, TINT_DIM, "now              since the start", out);
	/* A '*' marks the column that rows are sorted by. */
	text_addf(&line, "self %%%c total %%%c ", sort == TOP_SORT_SELF ? '*' : ' ',
		  sort == TOP_SORT_TOTAL ? '*' : ' ');
	text_addf(&line, "self %%%c total %%%c ", sort == TOP_SORT_SELF_ALL ? '*' : ' ',
		  sort == TOP_SORT_TOTAL_ALL ? '*' : ' ');
	add_cell(whats[screen->top->by] ? whats[screen->top->by] : "", columns->name, false,
		 &line);
	if (columns->states > 0) {
		text_add(&line, "  ");
		add_cell("mostly, now", columns->states, false, &line);
	}
	if (columns->has_both)
		text_add(&line, "  since the start");
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	add_line(screen, TINT_BOLD, text_string(&line), out);
}

static size_t room_of(const struct top_screen *screen)
{
	if (screen->height == 0)
		return screen->most_rows;
	return screen->height > TOP_SCREEN_FRAME ? screen->height - TOP_SCREEN_FRAME : 0;
}

void top_screen_draw(const struct top_screen *screen, struct text *out)
{
	const struct top_rows *top = screen->top;
	const size_t room = room_of(screen);
	/* The last page is a full page. */
	const size_t last = top->count > room ? top->count - room : 0;
	const size_t first = screen->state->first < last ? screen->state->first : last;
	const struct columns columns = measure(screen, first, room);
	size_t i = 0;

	add_head(screen, &columns, out);
	for (; i < room && first + i < top->count; i++)
		add_row(screen, &top->rows[first + i], &columns, out);
	if (top->count == 0 && room > 0 && screen->why_empty) {
		add_line(screen, TINT_DIM, screen->why_empty, out);
		i++;
	}
	if (screen->height == 0)
		return;
	for (; i < room; i++)
		text_add(out, "\n");
	add_line(screen, TINT_DIM,
		 screen->has_wall
			 ? "q quit  s t S T sort  f functions h threads p processes m modules "
			   "w states  space holds"
			 : "q quit  s t S T sort  f functions h threads p processes m modules "
			   " space holds",
		 out);
	if (out->len > 0)
		out->data[--out->len] = '\0';
}
