#include "report/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/intervals.h"
#include "report/number.h"
#include "profile/short_name.h"

enum {
	GAP = 2, /* between columns */
	PADDED_MAX = 44,
	FAIR_NAME = 32,
	FAIR_SOURCE = 36,
	FAIR = 20,
	NAME_MAX_COLUMNS = 64, /* for a function's name that can be shortened */
	COLUMNS_MAX = 20,
	INTERVAL_MIN_WIDTH = 80,
};

void grid_init(struct grid *grid, const struct grid_column *columns, size_t column_count)
{
	*grid = (struct grid){ .columns = columns, .column_count = column_count };
}

/* Adds a cell; takes string. */
static void add_cell(struct grid *grid, enum tint tint, char *string)
{
	grid->cells =
		array_grow(grid->cells, grid->count, &grid->capacity, sizeof *grid->cells);
	grid->cells[grid->count++] = (struct grid_cell){ .string = string,
							 .columns = text_columns(string),
							 .tint = tint };
}

void grid_addf(struct grid *grid, enum tint tint, const char *format, ...)
{
	char *string;
	va_list arguments;

	va_start(arguments, format);
	int len = vasprintf(&string, format, arguments);
	va_end(arguments);
	add_cell(grid, tint, len < 0 ? xstrdup("") : string);
}

void grid_add_name(struct grid *grid, enum tint tint, const char *name)
{
	bool is_known = name && *name;
	struct text text = { 0 };

	if (is_known)
		text_add_printable(&text, name, strlen(name));
	else
		text_add(&text, "-");
	add_cell(grid, is_known ? tint : TINT_DIM, xstrdup(text_string(&text)));
	text_done(&text);
}

void grid_add_percent(struct grid *grid, double percent)
{
	grid_addf(grid, style_tint_of(percent), "%.1f", percent);
}

/*
 * The distance from the value to the farther bound; 0: the value is exact, or has no interval.
 */
static double off_of(uint64_t ns, const struct interval *interval)
{
	const double below = (double)ns - (double)interval->low_ns;
	const double above = (double)interval->high_ns - (double)ns;

	return interval->high_ns == 0 ? 0 : fmax(fmax(below, above), 0);
}

void grid_add_share(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
		    const struct interval *interval)
{
	const double percent = number_percent(part_ns, whole_ns);
	const bool is_vague = off_of(part_ns, interval) * 2 > (double)part_ns;

	grid_addf(grid, is_vague ? TINT_DIM : style_tint_of(percent), "%.1f", percent);
}

/*
 * Rounded outwards, so that the interval is not understated. If ± would reach below 0 or above
 * the whole, shows only the bound on the other side.
 */
static void add_interval(struct grid *grid, double part_ns, double whole_ns, double off_ns,
			 const struct interval *interval)
{
	if (off_ns > part_ns)
		grid_addf(grid, TINT_DIM, "≤%.1f",
			  ceil(1000 * (double)interval->high_ns / whole_ns) / 10);
	else if (part_ns <= whole_ns && part_ns + off_ns > whole_ns)
		grid_addf(grid, TINT_DIM, "≥%.1f",
			  floor(1000 * (double)interval->low_ns / whole_ns) / 10);
	else
		grid_addf(grid, TINT_DIM, "±%.1f", ceil(1000 * off_ns / whole_ns) / 10);
}

void grid_add_half_width(struct grid *grid, uint64_t part_ns, uint64_t whole_ns,
			 const struct interval *interval)
{
	const double off_ns = off_of(part_ns, interval);

	if (off_ns <= 0 || part_ns == 0 || whole_ns == 0)
		grid_addf(grid, TINT_NONE, "%s", "");
	/*
	 * With so few samples, of the row or of the rest, that the next run may have none, the
	 * bound is more informative.
	 */
	else if (interval->phases == 2 ||
		 (interval->phases == 1 && off_ns <= (double)part_ns &&
		  (part_ns > whole_ns || (double)part_ns + off_ns <= (double)whole_ns)))
		grid_addf(grid, TINT_DIM, interval->phases == 1 ? "once" : "twice");
	else
		add_interval(grid, (double)part_ns, (double)whole_ns, off_ns, interval);
}

void grid_add_time(struct grid *grid, const struct time_unit *unit, uint64_t ns)
{
	struct text text = { 0 };

	number_add_time(&text, unit, ns);
	add_cell(grid, ns > 0 ? TINT_NONE : TINT_DIM, xstrdup(text_string(&text)));
	text_done(&text);
}

void grid_add_count(struct grid *grid, uint64_t count)
{
	struct text text = { 0 };

	number_add_count(&text, count);
	add_cell(grid, count > 0 ? TINT_NONE : TINT_DIM, xstrdup(text_string(&text)));
	text_done(&text);
}

/* Columns of a function's name when it is shortened to a reasonable length. */
static size_t short_columns(const char *name)
{
	struct text shorter = { 0 };

	short_name_add(&shorter, name, NAME_MAX_COLUMNS);
	const size_t columns = text_columns(text_string(&shorter));

	text_done(&shorter);
	return columns;
}

/* Without a width limit, cells longer than PADDED_MAX do not widen a column that may be cut. */
static size_t widening(const struct grid_column *column, const struct grid_cell *cell,
		       unsigned int width)
{
	if (width == 0)
		return column->least > 0 && cell->columns > PADDED_MAX ? 0 : cell->columns;
	if ((column->flags & COLUMN_NAME) && cell->columns > NAME_MAX_COLUMNS)
		return short_columns(cell->string);
	return cell->columns;
}

/* Whether all further cells of the row are blank, so that a label may use their space. */
static bool ends_row(const struct grid *grid, size_t cell)
{
	for (size_t i = cell + 1; i % grid->column_count != 0; i++) {
		if (grid->cells[i].columns > 0)
			return false;
	}
	return true;
}

static bool is_spilling(const struct grid *grid, size_t cell)
{
	const size_t column = cell % grid->column_count;

	return (grid->columns[column].flags & COLUMN_LABEL) &&
	       column + 1 < grid->column_count && ends_row(grid, cell);
}

static void measure(const struct grid *grid, unsigned int width, size_t widths[COLUMNS_MAX])
{
	for (size_t i = 0; i < grid->column_count; i++)
		widths[i] = text_columns(grid->columns[i].title);
	for (size_t i = 0; i < grid->count; i++) {
		const size_t column = i % grid->column_count;
		const size_t columns = widening(&grid->columns[column], &grid->cells[i], width);

		if (columns > widths[column] && !is_spilling(grid, i))
			widths[column] = columns;
	}
}

/* Columns are cut below this width only after optional columns were left out. */
static size_t fair_width(const struct grid_column *column)
{
	const size_t fair = column->flags & COLUMN_SOURCE                  ? FAIR_SOURCE
			    : column->flags & (COLUMN_NAME | COLUMN_LABEL) ? FAIR_NAME
									   : FAIR;

	return column->least > fair ? column->least : fair;
}

/* A column that is left out has width 0. */
static size_t row_width(const struct grid *grid, const size_t widths[COLUMNS_MAX], bool is_fair)
{
	size_t sum = 0;

	for (size_t i = 0; i < grid->column_count; i++) {
		const struct grid_column *column = &grid->columns[i];
		const bool is_cut =
			is_fair && column->least > 0 && widths[i] > fair_width(column);

		if (widths[i] > 0)
			sum += (sum ? GAP : 0) + (is_cut ? fair_width(column) : widths[i]);
	}
	return sum;
}

/* Leaves out optional columns while names would otherwise be cut below a fair length. */
static void leave_out(const struct grid *grid, size_t width, size_t widths[COLUMNS_MAX])
{
	static const unsigned int order[] = { COLUMN_FIRST_OUT, COLUMN_SECOND_OUT,
					      COLUMN_THIRD_OUT };

	for (size_t i = 0; i < grid->column_count; i++) {
		if ((grid->columns[i].flags & COLUMN_INTERVAL) && width < INTERVAL_MIN_WIDTH)
			widths[i] = 0;
	}
	for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
		for (size_t i = 0; i < grid->column_count; i++) {
			if ((grid->columns[i].flags & order[k]) &&
			    row_width(grid, widths, true) > width)
				widths[i] = 0;
		}
	}
}

/* Of the columns that may be cut, the one with most to spare. */
static size_t widest(const struct grid *grid, const size_t widths[COLUMNS_MAX])
{
	size_t found = grid->column_count;

	for (size_t i = 0; i < grid->column_count; i++) {
		if (grid->columns[i].least == 0 || widths[i] <= grid->columns[i].least)
			continue;
		if (found == grid->column_count || widths[i] > widths[found])
			found = i;
	}
	return found;
}

/* Cuts cells to fit: paths and other columns before names. */
static void fit(const struct grid *grid, size_t width, size_t widths[COLUMNS_MAX])
{
	size_t sum = row_width(grid, widths, false);

	for (size_t i = 0; i < grid->column_count && sum > width; i++) {
		const struct grid_column *column = &grid->columns[i];
		const bool gives_way =
			column->least > 0 && !(column->flags & (COLUMN_NAME | COLUMN_LABEL));

		for (; gives_way && widths[i] > fair_width(column) && sum > width; sum--)
			widths[i]--;
	}
	for (; sum > width; sum--) {
		const size_t column = widest(grid, widths);

		if (column == grid->column_count)
			return;
		widths[column]--;
	}
}

static void cut(struct text *out, const struct grid_column *column, const char *string,
		size_t width)
{
	if (column->flags & COLUMN_TEXT)
		style_add_cut_end(out, string, width);
	else if (column->flags & COLUMN_LABEL)
		style_add_cut_label(out, string, width);
	else if (column->flags & COLUMN_NAME)
		style_add_cut_name(out, string, width);
	else
		style_add_cut(out, string, width);
}

static void write_cell(const struct style *style, const struct grid_column *column,
		       const struct grid_cell *cell, size_t width, bool is_last,
		       struct text *out)
{
	struct text shorter = { 0 };
	size_t columns = cell->columns;
	bool is_cut = style->width > 0 && columns > width;
	const bool is_right = column->flags & COLUMN_RIGHT;

	if (width == 0)
		return;
	if (is_cut) {
		cut(&shorter, column, cell->string, width);
		columns = text_columns(text_string(&shorter));
	}
	int padding = columns < width ? (int)(width - columns) : 0;
	if (is_right)
		text_addf(out, "%*s", padding, "");
	style_add(out, style, cell->tint, is_cut ? text_string(&shorter) : cell->string);
	if (!is_last)
		text_addf(out, "%*s", GAP + (is_right ? 0 : padding), "");
	text_done(&shorter);
}

static void end_row(struct text *out)
{
	while (out->len > 0 && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	text_add(out, "\n");
}

/* The width from the column's beginning to the end of the line. */
static size_t rest_width(const struct grid *grid, size_t width,
			 const size_t widths[COLUMNS_MAX], size_t column)
{
	size_t taken = 0;

	for (size_t i = 0; i < column && i < grid->column_count; i++)
		taken += widths[i] > 0 ? widths[i] + GAP : 0;
	return width > taken ? width - taken : widths[column];
}

void grid_write(const struct grid *grid, const struct style *style, struct text *out)
{
	size_t widths[COLUMNS_MAX];

	measure(grid, style->width, widths);
	if (style->width > 0) {
		leave_out(grid, style->width, widths);
		fit(grid, style->width, widths);
	}
	for (size_t i = 0; i < grid->column_count; i++) {
		const struct grid_column *column = &grid->columns[i];
		struct grid_cell title = { .string = (char *)column->title,
					   .columns = text_columns(column->title),
					   .tint = TINT_BOLD };
		write_cell(style, column, &title, widths[i], i + 1 == grid->column_count, out);
	}
	end_row(out);
	for (size_t i = 0; i < grid->count; i++) {
		size_t column = i % grid->column_count;
		bool is_last = column + 1 == grid->column_count;
		size_t width = widths[column];

		if (is_spilling(grid, i)) {
			width = rest_width(grid, style->width, widths, column);
			is_last = true;
		}
		write_cell(style, &grid->columns[column], &grid->cells[i], width, is_last, out);
		if (is_last) {
			end_row(out);
			i += grid->column_count - 1 - column;
		}
	}
}

void grid_done(struct grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		freep(&grid->cells[i].string);
	freep(&grid->cells);
	*grid = (struct grid){ 0 };
}
