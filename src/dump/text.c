#include "dump/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/text.h"
#include "dump/command.h"
#include "dump/core_head.h"
#include "dump/rows.h"
#include "remote/core_memory.h"
#include "remote/locals.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/snapshot.h"
#include "report/style.h"

enum { NAME_COLUMNS = 44, PLACE_COLUMNS = 52, INDENT = 2 };

const char *dump_state_word(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting without interruption";
	case 'T':
		return "stopped";
	case 't':
		return "stopped by a debugger";
	case 'I':
		return "idle";
	default:
		return "ended";
	}
}

static const char *walk_sentence(uint8_t ending)
{
#define SENTENCE(name, number, word, sentence) [number] = sentence,
	static const char *const sentences[] = { WALK_STATUS_MAP(SENTENCE) };
#undef SENTENCE

	return ending < sizeof sentences / sizeof *sentences ? sentences[ending] : "?";
}

static void add_core(struct core *core, struct text *out)
{
	text_add(out, "core     ");
	text_add_printable(out, core->path, strlen(core->path));
	text_add(out, "\nsignal   ");
	dump_add_signal(core, out);
	if (core->file.threads[0].signal != 0)
		text_addf(out, ", in thread %d", (int)core->file.threads[0].tid);
	text_add(out, "\n");
	dump_add_missing(core, out);
}

static void add_head(const struct dump *dump, const struct style *style, struct text *out)
{
	const struct remote *remote = dump->remote;
	CLEANUP(text_done) struct text line = { 0 };

	text_addf(&line, "process %d", (int)remote->pid);
	style_add(out, style, TINT_BOLD, text_string(&line));
	text_add(out, "  ");
	dump_add_command(remote, out);
	text_add(out, "\n");
	if (remote->core)
		add_core(remote->core, out);
	if (remote->python)
		text_addf(out, "python   %s\n", remote_python_version(remote->python));
	else if (remote->why_no_python)
		text_addf(out, "python   no frames: %s\n", remote->why_no_python);
	if (remote->ruby)
		text_addf(out, "ruby     %s%s\n", remote_ruby_version(remote->ruby),
			  remote_ruby_gvl_is_verified(remote->ruby)
				  ? ""
				  : "; who holds the GVL was not verified for this version");
	else if (remote->why_no_ruby)
		text_addf(out, "ruby     no frames: %s\n", remote->why_no_ruby);
}

static void add_state(const struct remote_thread *thread, const struct dump_thread *named,
		      struct text *out)
{
	text_addf(out, "  %s", dump_state_word(thread->state));
	if (thread->wait)
		text_addf(out, " in %s", thread->wait);
	if (*thread->kernel_function != '\0' && thread->state == 'D')
		text_addf(out, "%s in the kernel's %s", thread->wait ? "," : "",
			  thread->kernel_function);
	if (thread->lock_owner != 0)
		text_addf(out, " for a mutex that thread %d holds", (int)thread->lock_owner);
	if (named->waits_for_python_lock)
		text_add(out, " for a lock of Python's, which keeps no owner");
	if (thread->locks.waits_for_gil)
		text_add(out, ", waits for the GIL");
	if (thread->locks.holds_gil)
		text_add(out, ", holds the GIL");
	if (thread->locks.holds_gvl)
		text_add(out, ", holds the GVL");
	if (thread->signal != 0) {
		text_add(out, ", got ");
		dump_add_signal_name(thread->signal, out);
	}
}

static void add_thread_head(const struct remote_thread *thread, const struct dump_thread *named,
			    const struct style *style, struct text *out)
{
	const char *name = thread->long_name ? thread->long_name : thread->name;
	CLEANUP(text_done) struct text head = { 0 };

	text_addf(&head, "thread %d", (int)thread->tid);
	if (thread->inner_tid != thread->tid)
		text_addf(&head, " (%d inside)", (int)thread->inner_tid);
	text_add(out, "\n");
	style_add(out, style, TINT_BOLD, text_string(&head));
	text_add(out, "  ");
	text_add_printable(out, name, strlen(name));
	add_state(thread, named, out);
	text_add(out, "\n");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_place(const struct dump_row *row, struct text *out)
{
	if (!row->file)
		text_add(out, "-");
	else if (row->line > 0)
		text_addf(out, "%s:%u", row->file, (unsigned)row->line);
	else
		text_add(out, row->file);
}

static const char *module_title(const struct dump_row *row)
{
	if (row->language == DUMP_PYTHON)
		return "Python";
	if (row->language == DUMP_RUBY)
		return "Ruby";
	return row->module ? base_name(row->module) : "";
}

/* A cell, and blanks up to the next. */
static void add_cell(const struct style *style, const char *string, size_t columns,
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
	text_addf(out, "%*s", (int)(width < columns ? columns - width : 0) + 2, "");
}

struct columns {
	size_t name, place;
};

static struct columns measure(const struct dump_thread *thread, bool has_native)
{
	struct columns columns = { 8, 8 };

	for (size_t i = 0; i < thread->count; i++) {
		const struct dump_row *row = &thread->rows[i];
		CLEANUP(text_done) struct text place = { 0 };
		size_t width;

		if (row->is_plumbing && !has_native)
			continue;
		add_place(row, &place);
		width = text_columns(row->name);
		columns.name = width > columns.name ? width : columns.name;
		width = text_columns(text_string(&place));
		columns.place = width > columns.place ? width : columns.place;
	}
	columns.name = columns.name < NAME_COLUMNS ? columns.name : NAME_COLUMNS;
	columns.place = columns.place < PLACE_COLUMNS ? columns.place : PLACE_COLUMNS;
	return columns;
}

static void add_row(const struct dump_row *row, const struct columns *columns,
		    const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text place = { 0 };

	text_addf(out, "%*s", INDENT, "");
	add_cell(style, row->name, columns->name, true, out);
	add_place(row, &place);
	add_cell(style, text_string(&place), columns->place, false, out);
	style_add(out, style, TINT_DIM, module_title(row));
	if (row->is_inlined)
		style_add(out, style, TINT_DIM, " (inlined)");
	if (row->is_guess)
		style_add(out, style, TINT_WARM, " (a guess)");
	if (row->frame->is_doubtful)
		style_add(out, style, TINT_WARM, " (doubtful)");
	text_add(out, "\n");
}

static void add_locals(const struct remote *remote, const struct dump_row *row,
		       const struct style *style, struct text *out)
{
	for (size_t i = 0; i < row->frame->local_count; i++) {
		const struct local *local = &remote->locals[row->frame->local_first + i];
		CLEANUP(text_done) struct text line = { 0 };

		text_addf(&line, "%*s%s = ", 3 * INDENT, "", local->name);
		text_add_printable(&line, local->value, strlen(local->value));
		style_add(out, style, TINT_DIM, text_string(&line));
		text_add(out, "\n");
	}
}

/* Why the stack is not whole, or not to be believed. */
static void add_ending(const struct remote_thread *thread, const struct style *style,
		       struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (thread->trust == THREAD_UNREAD)
		text_addf(&line, "  no stack: %s\n", thread->why_unread);
	else if (thread->why_unread)
		text_addf(&line, "  … without native frames: %s\n", thread->why_unread);
	else if (thread->stack.needs_frame_pointer)
		text_add(&line,
			 "  … cut: the frame's function keeps its callers behind a register "
			 "that cannot be read from outside\n");
	else if (thread->stack.ending != WALK_COMPLETE && thread->stack.ending != WALK_SWITCHED)
		text_addf(&line, "  … %s\n", walk_sentence(thread->stack.ending));
	if (thread->trust == THREAD_DOUBTFUL)
		text_addf(&line, "  doubtful: %s\n", thread->why_doubtful);
	if (line.len > 0)
		style_add(out, style, TINT_WARM, text_string(&line));
}

static void add_thread(const struct dump *dump, size_t i, const struct dump_options *options,
		       const struct style *style, struct text *out)
{
	const struct remote_thread *thread = &dump->snapshot->threads[i];
	const struct dump_thread *named = &dump->threads[i];
	const struct columns columns = measure(named, options->has_native);

	add_thread_head(thread, named, style, out);
	for (size_t j = 0; j < named->count; j++) {
		if (named->rows[j].is_plumbing && !options->has_native)
			continue;
		add_row(&named->rows[j], &columns, style, out);
		add_locals(dump->remote, &named->rows[j], style, out);
	}
	add_ending(thread, style, out);
}

static void add_deadlock(const struct snapshot *snapshot, const size_t *circle, size_t len,
			 const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	text_add(&line, "deadlock:");
	for (size_t i = 0; i < len; i++) {
		const struct remote_thread *thread = &snapshot->threads[circle[i]];

		text_addf(&line, "%s thread %d waits for the mutex at 0x%" PRIx64,
			  i > 0 ? "," : "", (int)thread->tid, thread->lock.address);
		text_addf(&line, ", which thread %d holds", (int)thread->lock_owner);
	}
	text_add(out, "\n");
	style_add(out, style, TINT_HOT, text_string(&line));
	text_add(out, "\n");
}

static void add_deadlocks(const struct dump *dump, const struct style *style, struct text *out)
{
	const struct snapshot *snapshot = dump->snapshot;
	size_t *circle = xreallocarray(NULL, snapshot->count, sizeof *circle);

	for (size_t i = 0; i < snapshot->count; i++) {
		const size_t len = snapshot_find_deadlock(snapshot, i, circle);

		if (len > 0)
			add_deadlock(snapshot, circle, len, style, out);
	}
	free(circle);
}

void dump_write_text(const struct dump *dump, const struct dump_options *options,
		     const struct style *style, struct text *out)
{
	add_head(dump, style, out);
	for (size_t i = 0; i < dump->snapshot->count; i++)
		add_thread(dump, i, options, style, out);
	add_deadlocks(dump, style, out);
}
