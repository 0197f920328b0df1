#include "dump/frame_rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "dump/rows.h"
#include "remote/snapshot.h"
#include "report/style.h"

enum {
	NAME_MOST = 44,
	NAME_LEAST = 16,
	PLACE_MOST = 52,
	PLACE_LEAST = 16,
	INDENT = 2,
	GAP = 2
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_place(const struct dump_row *row, bool has_folder, struct text *out)
{
	const char *file = row->file && !has_folder ? base_name(row->file) : row->file;

	text_add_printable(out, file ? file : "-", file ? strlen(file) : 1);
	if (file && row->line > 0)
		text_addf(out, ":%u", (unsigned)row->line);
}

static void add_module(const struct dump_row *row, struct text *out)
{
	if (row->language == DUMP_PYTHON)
		text_add(out, "Python");
	else if (row->language == DUMP_RUBY)
		text_add(out, "Ruby");
	else if (row->module)
		text_add_printable(out, base_name(row->module), strlen(base_name(row->module)));
	if (row->is_inlined)
		text_add(out, " (inlined)");
}

/* Adds why the row is uncertain: this is never cut. */
static void add_doubt(const struct dump_row *row, struct text *out)
{
	if (row->is_guess)
		text_add(out, " (a guess)");
	if (row->frame->is_doubtful)
		text_add(out, " (doubtful)");
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Measures the widest cell of each column, over the rows that are shown. */
static void measure(const struct dump_thread *thread, bool has_native,
		    struct frame_columns *columns, size_t *out_module, size_t *out_doubt)
{
	columns->name = columns->place = 8;
	*out_module = *out_doubt = 0;
	for (size_t i = 0; i < thread->count; i++) {
		const struct dump_row *row = &thread->rows[i];
		CLEANUP(text_done) struct text cell = { 0 };

		if (row->is_plumbing && !has_native)
			continue;
		columns->name = larger(columns->name, text_columns(row->name));
		add_place(row, columns->has_folders, &cell);
		columns->place = larger(columns->place, text_columns(text_string(&cell)));
		text_clear(&cell);
		add_module(row, &cell);
		*out_module = larger(*out_module, text_columns(text_string(&cell)));
		text_clear(&cell);
		add_doubt(row, &cell);
		*out_doubt = larger(*out_doubt, text_columns(text_string(&cell)));
	}
	columns->name = columns->name < NAME_MOST ? columns->name : NAME_MOST;
	columns->place = columns->place < PLACE_MOST ? columns->place : PLACE_MOST;
}

/* Reduces *most by `over`, but not below least; returns what is still over. */
static size_t cut_down(size_t *most, size_t least, size_t over)
{
	const size_t can = *most > least ? *most - least : 0;
	const size_t taken = over < can ? over : can;

	*most -= taken;
	return over - taken;
}

void frame_columns_fit(const struct dump_thread *thread, bool has_native,
		       const struct style *style, struct frame_columns *out_columns)
{
	size_t module, doubt, wanted;

	*out_columns = (struct frame_columns){ .has_modules = true, .has_folders = true };
	measure(thread, has_native, out_columns, &module, &doubt);
	if (style->width == 0)
		return;
	wanted = INDENT + out_columns->name + GAP + out_columns->place + GAP + doubt;
	out_columns->has_modules = wanted + module <= style->width;
	if (wanted <= style->width)
		return;
	out_columns->has_folders = false;
	measure(thread, has_native, out_columns, &module, &doubt);
	wanted = INDENT + out_columns->name + GAP + out_columns->place + GAP + doubt;
	if (wanted > style->width) {
		const size_t over =
			cut_down(&out_columns->name, NAME_LEAST, wanted - style->width);

		cut_down(&out_columns->place, PLACE_LEAST, over);
	}
}

/* Adds a cell of at most `columns` columns; returns how many of them remain. */
static size_t add_cell(const struct style *style, const char *string, size_t columns,
		       bool is_name, struct text *out)
{
	CLEANUP(text_done) struct text cell = { 0 };
	CLEANUP(text_done) struct text shown = { 0 };
	size_t width;

	text_add_printable(&shown, string, strlen(string));
	if (style->width == 0)
		text_add(&cell, text_string(&shown));
	else if (is_name)
		style_add_cut_name(&cell, text_string(&shown), columns);
	else
		style_add_cut(&cell, text_string(&shown), columns);
	text_add(out, text_string(&cell));
	width = text_columns(text_string(&cell));
	return width < columns ? columns - width : 0;
}

void frame_row_add(const struct dump_row *row, const struct frame_columns *columns,
		   const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text place = { 0 };
	CLEANUP(text_done) struct text module = { 0 };
	CLEANUP(text_done) struct text doubt = { 0 };
	size_t left;

	text_addf(out, "%*s", INDENT, "");
	left = add_cell(style, row->name, columns->name, true, out);
	text_addf(out, "%*s", (int)left + GAP, "");
	add_place(row, columns->has_folders, &place);
	left = add_cell(style, text_string(&place), columns->place, false, out);
	if (columns->has_modules)
		add_module(row, &module);
	if (module.len > 0)
		text_addf(out, "%*s", (int)left + GAP, "");
	style_add(out, style, TINT_DIM, text_string(&module));
	add_doubt(row, &doubt);
	style_add(out, style, TINT_WARM, text_string(&doubt));
	text_add(out, "\n");
}
