/*
 * frame_rows - formats the frames of a thread as rows: name, place, program or library.
 *
 * If space is short, the module is left out first, then the folders of places; then names are
 * cut.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct dump_row;
struct dump_thread;
struct style;
struct text;

struct frame_columns {
	size_t name, place;
	bool has_modules, has_folders;
};

void frame_columns_fit(const struct dump_thread *thread, bool has_native,
		       const struct style *style, struct frame_columns *out_columns);
void frame_row_add(const struct dump_row *row, const struct frame_columns *columns,
		   const struct style *style, struct text *out);
