/* Writes a dump as text, for a terminal. */
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
#include "dump/locks.h"
#include "dump/frame_rows.h"
#include "dump/rows.h"
#include "remote/core_memory.h"
#include "remote/locals.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/snapshot.h"
#include "report/style.h"

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

enum { LOCALS_INDENT = 6 };

/* Adds a text that begins at column `at`, cut at the end of the line. */
static void add_cut(struct text *out, const struct style *style, enum tint tint, size_t at,
		    const char *string)
{
	CLEANUP(text_done) struct text cut = { 0 };

	if (style->width == 0)
		text_add(&cut, string);
	else
		style_add_cut_end(&cut, string, style->width > at ? style->width - at : 1);
	style_add(out, style, tint, text_string(&cut));
}

/* Likewise for a sentence, which is wrapped instead of cut. */
static void add_sentence(struct text *out, const struct style *style, size_t at,
			 const char *sentence)
{
	CLEANUP(text_done) struct text shown = { 0 };

	/* The sentence may contain a path, or another name from outside. */
	text_add_printable(&shown, sentence, strlen(sentence));
	if (style->width == 0)
		text_add(out, text_string(&shown));
	else
		style_add_wrapped(out, style, (unsigned int)at, text_string(&shown));
	text_add(out, "\n");
}

enum { HEAD_LABEL = 9 }; /* width of labels like "python 3.11" */

static void add_core(struct core *core, const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text path = { 0 };
	CLEANUP(text_done) struct text signal = { 0 };

	text_add_printable(&path, core->path, strlen(core->path));
	text_add(out, "core     ");
	add_cut(out, style, TINT_NONE, HEAD_LABEL, text_string(&path));
	text_add(out, "\nsignal   ");
	dump_add_signal(core, &signal);
	if (core->file.threads[0].signal != 0)
		text_addf(&signal, ", in thread %d", (int)core->file.threads[0].tid);
	add_sentence(out, style, HEAD_LABEL, text_string(&signal));
	dump_add_missing(core, out);
}

static void add_head(const struct dump *dump, const struct style *style, struct text *out)
{
	const struct remote *remote = dump->remote;
	CLEANUP(text_done) struct text line = { 0 };

	CLEANUP(text_done) struct text command = { 0 };

	text_addf(&line, "process %d", (int)remote->process);
	style_add(out, style, TINT_BOLD, text_string(&line));
	text_add(out, "  ");
	dump_add_command(remote, &command);
	add_cut(out, style, TINT_NONE, line.len + 2, text_string(&command));
	text_add(out, "\n");
	if (remote->core)
		add_core(remote->core, style, out);
	text_clear(&line);
	if (remote->python)
		text_add(&line, remote_python_version(remote->python));
	else if (remote->why_no_python)
		text_addf(&line, "no frames: %s", remote->why_no_python);
	if (line.len > 0) {
		text_add(out, "python   ");
		add_sentence(out, style, HEAD_LABEL, text_string(&line));
	}
	text_clear(&line);
	if (remote->ruby)
		text_addf(&line, "%s%s", remote_ruby_version(remote->ruby),
			  remote_ruby_gvl_is_verified(remote->ruby)
				  ? ""
				  : "; which thread holds the GVL was not verified for this "
				    "version");
	else if (remote->why_no_ruby)
		text_addf(&line, "no frames: %s", remote->why_no_ruby);
	if (line.len > 0) {
		text_add(out, "ruby     ");
		add_sentence(out, style, HEAD_LABEL, text_string(&line));
	}
}

static void add_state(const struct remote_thread *thread, const struct dump_thread *named,
		      struct text *out)
{
	text_addf(out, "  %s", dump_state_word(thread->state));
	if (thread->call_text)
		text_addf(out, " in %s", thread->call_text);
	if (*thread->kernel_function != '\0' && thread->state == 'D')
		text_addf(out, "%s in the kernel's %s", thread->call_text ? "," : "",
			  thread->kernel_function);
	dump_add_waited_lock(thread, named->waits_for_python_lock, out);
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
	CLEANUP(text_done) struct text said = { 0 };

	text_addf(&head, "thread %d", (int)thread->tid);
	if (thread->inner_tid != thread->tid)
		text_addf(&head, " (%d inside)", (int)thread->inner_tid);
	text_add(out, "\n");
	style_add(out, style, TINT_BOLD, text_string(&head));
	text_add(out, "  ");
	text_add_printable(&said, name, strlen(name));
	add_state(thread, named, &said);
	add_sentence(out, style, head.len + 2, text_string(&said));
}

static void add_locals(const struct remote *remote, const struct dump_row *row,
		       const struct style *style, struct text *out)
{
	for (size_t i = 0; i < row->frame->local_count; i++) {
		const struct local *local = &remote->locals[row->frame->local_first + i];
		CLEANUP(text_done) struct text line = { 0 };

		text_addf(&line, "%*s", LOCALS_INDENT, "");
		text_add_printable(&line, local->name, strlen(local->name));
		text_add(&line, " = ");
		text_add_printable(&line, local->value, strlen(local->value));
		add_cut(out, style, TINT_DIM, 0, text_string(&line));
		text_add(out, "\n");
	}
}

static void add_warning(struct text *out, const struct style *style, const char *sentence)
{
	CLEANUP(text_done) struct text lines = { 0 };

	text_add(&lines, "  ");
	add_sentence(&lines, style, 2, sentence);
	style_add(out, style, TINT_WARM, text_string(&lines));
}

/* Adds why the stack is incomplete or not trustworthy. */
static void add_ending(const struct remote_thread *thread, const struct style *style,
		       struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (thread->trust == THREAD_UNREAD)
		text_addf(&line, "no stack: %s", thread->why_unread);
	else if (thread->why_unread)
		text_addf(&line, "… without native frames: %s", thread->why_unread);
	else if (thread->stack.needs_frame_pointer)
		text_add(&line,
			 "… cut: this frame's caller can only be found by a register that "
			 "cannot be read from outside");
	else if (thread->stack.ending != WALK_COMPLETE && thread->stack.ending != WALK_SWITCHED)
		text_addf(&line, "… %s", walk_sentence(thread->stack.ending));
	if (line.len > 0)
		add_warning(out, style, text_string(&line));
	if (thread->trust != THREAD_DOUBTFUL)
		return;
	text_clear(&line);
	text_addf(&line, "doubtful: %s", thread->why_doubtful);
	add_warning(out, style, text_string(&line));
}

static void add_thread(const struct dump *dump, size_t i, const struct dump_options *options,
		       const struct style *style, struct text *out)
{
	const struct remote_thread *thread = &dump->snapshot->threads[i];
	const struct dump_thread *named = &dump->threads[i];
	struct frame_columns columns;

	add_thread_head(thread, named, style, out);
	frame_columns_fit(named, options->has_native, style, &columns);
	for (size_t j = 0; j < named->count; j++) {
		if (named->rows[j].is_plumbing && !options->has_native)
			continue;
		frame_row_add(&named->rows[j], &columns, style, out);
		add_locals(dump->remote, &named->rows[j], style, out);
	}
	add_ending(thread, style, out);
}

void dump_write_text(const struct dump *dump, const struct dump_options *options,
		     const struct style *style, struct text *out)
{
	add_head(dump, style, out);
	dump_add_deadlocks(dump->snapshot, style, out);
	for (size_t i = 0; i < dump->snapshot->count; i++)
		add_thread(dump, i, options, style, out);
}
