#include "report/blame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/blame.h"
#include "profile/filter.h"
#include "profile/info.h"
#include "profile/profile.h"
#include "report/blame_pairs.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"
#include "profile/short_name.h"

enum {
	ROWS = 12,
	CPU_ROWS = 5,
	STACKS = 3,
	NAME_COLUMNS = 36,
	LABEL_COLUMNS = 8,
	CHAIN_WIDTH = 100
};

static const struct grid_column columns[] = {
	{ "time %", COLUMN_RIGHT, 0 },
	{ "time", COLUMN_RIGHT | COLUMN_SECOND_OUT, 0 },
	{ "waited for", COLUMN_LEFT, 0 },
	{ "held by", COLUMN_LEFT, 8 },
	{ "which executed", COLUMN_LEFT | COLUMN_LABEL, 14 }, /* its title, whole */
	{ "made wait", COLUMN_LEFT | COLUMN_FIRST_OUT, 8 },
	{ "in", COLUMN_LEFT | COLUMN_LABEL, 12 },
};

/* The rows of a table. */
struct blame_part {
	const struct blame **rows;
	size_t shown, count;
	uint64_t whole_ns; /* of all */
};

/* What the one had that the other waited for. */
static const char *object_of(enum thread_state state)
{
	switch (state) {
	case THREAD_STATE_GIL:
		return "the GIL";
	case THREAD_STATE_GVL:
		return "the GVL";
	case THREAD_STATE_RUNNABLE:
		return "a CPU";
	case THREAD_STATE_LOCK:
		return "a lock";
	default:
		return "its end";
	}
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static void add_frame(struct text *out, const struct profile *profile, struct frame_id id)
{
	const struct frame *frame = profile_get_frame(profile, id);
	const struct function *function =
		frame ? profile_get_function(profile, frame->function) : NULL;
	const char *file;

	if (!function) {
		text_add(out, "not known");
		return;
	}
	file = base_name(frame->file ? frame->file : function->file);
	short_name_add(out, function->name, NAME_COLUMNS);
	if (file && frame->line > 0)
		text_addf(out, " %s:%u", file, frame->line);
}

static void add_frame_cell(struct grid *grid, const struct profile *profile,
			   struct stack_id stack)
{
	CLEANUP(text_done) struct text cell = { 0 };

	add_frame(&cell, profile, blame_frame_of(profile, stack));
	grid_add_name(grid, TINT_NONE, text_string(&cell));
}

static void add_thread_cell(struct grid *grid, const struct profile *profile,
			    struct thread_id id)
{
	const struct thread *thread = profile_get_thread(profile, id);
	CLEANUP(text_done) struct text cell = { 0 };

	if (thread)
		text_addf(&cell, "%s (%d)", thread->name ? thread->name : "thread",
			  thread->tid);
	grid_add_name(grid, TINT_NONE, text_string(&cell));
}

/* Of those for a CPU, or of all others, the heaviest; returns how many there are. */
static size_t choose(const struct blame_pairs *pairs, bool is_for_cpu, size_t most,
		     struct blame_part *out_part)
{
	*out_part = (struct blame_part){ .rows = xzalloc((pairs->count + 1) *
							 sizeof(struct blame *)) };
	for (size_t i = 0; i < pairs->count; i++) {
		const struct blame *pair = &pairs->rows[i];

		if ((pair->state == THREAD_STATE_RUNNABLE) != is_for_cpu)
			continue;
		out_part->whole_ns += pair->ns;
		if (out_part->count++ < most)
			out_part->rows[out_part->shown++] = pair;
	}
	return out_part->count;
}

static void add_rows(const struct selection *selection, const struct blame_part *part,
		     const struct style *style, struct text *out)
{
	const struct time_unit *unit = time_unit_for(part->rows[0]->ns);
	struct grid grid;

	grid_init(&grid, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < part->shown; i++) {
		const struct blame *pair = part->rows[i];

		grid_add_percent(&grid, number_percent(pair->ns, part->whole_ns));
		grid_add_time(&grid, unit, pair->ns);
		grid_addf(&grid, TINT_DIM, "%s", object_of(pair->state));
		add_thread_cell(&grid, selection->profile, pair->owner);
		add_frame_cell(&grid, selection->profile, pair->owner_stack);
		add_thread_cell(&grid, selection->profile, pair->waiter);
		add_frame_cell(&grid, selection->profile, pair->waiter_stack);
	}
	grid_write(&grid, style, out);
	grid_done(&grid);
	if (part->shown < part->count)
		text_addf(out, "… %zu more pairs: -n 0 shows all\n", part->count - part->shown);
}

/* "main → run → crunch app.py:12", its outer end cut off where it is too wide. */
static void add_chain(struct text *out, const struct profile *profile, struct stack_id id,
		      size_t width)
{
	CLEANUP(text_done) struct text chain = { 0 };
	const struct stack *stack = profile_get_stack(profile, id);

	if (!stack)
		text_add(&chain, "not known");
	for (; stack; stack = profile_get_stack(profile, stack->parent)) {
		CLEANUP(text_done) struct text longer = { 0 };
		bool has_room;

		if (blame_is_c_library(profile, stack->frame))
			continue;
		add_frame(&longer, profile, stack->frame);
		text_addf(&longer, "%s%s", chain.len > 0 ? " → " : "", text_string(&chain));
		has_room = chain.len == 0 || text_columns(text_string(&longer)) + 4 <= width;
		if (!has_room) {
			text_clear(&longer);
			text_addf(&longer, "… → %s", text_string(&chain));
		}
		text_clear(&chain);
		text_add(&chain, text_string(&longer));
		if (!has_room)
			break;
	}
	text_add_printable(out, text_string(&chain), chain.len);
}

static void add_stacks(const struct selection *selection, const struct blame_part *part,
		       const struct style *style, struct text *out)
{
	const size_t count = part->shown < STACKS ? part->shown : STACKS;
	const size_t width = (style->width ? style->width : CHAIN_WIDTH) - LABEL_COLUMNS;

	for (size_t i = 0; i < count; i++) {
		const struct blame *pair = part->rows[i];
		CLEANUP(text_done) struct text line = { 0 };

		text_add(&line, "\nholder  ");
		add_chain(&line, selection->profile, pair->owner_stack, width);
		text_add(&line, "\nwaiter  ");
		add_chain(&line, selection->profile, pair->waiter_stack, width);
		text_add(&line, "\n");
		style_add(out, style, TINT_DIM, text_string(&line));
	}
}

/* Of the states in which a thread holds what is waited for, what has no owner here. */
static void add_unknown(const struct blame_pairs *pairs, const struct style *style,
			struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (pairs->unknown_ns == 0)
		return;
	number_add_any_time(&line, pairs->unknown_ns);
	text_add(&line,
		 " of waits for locks and interpreters have no row: "
		 "they were too short to be read, or what they waited for keeps no owner "
		 "(conditions, queues, semaphores, threading.Lock).");
	text_add(out, "\n");
	style_add_wrapped(out, style, 0, text_string(&line));
	text_add(out, "\n");
}

static void add_part(const struct selection *selection, const struct blame_part *part,
		     const char *what, const struct style *style, struct text *out)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (part->count == 0)
		return;
	text_add(&line, "\nPercentages are of ");
	number_add_any_time(&line, part->whole_ns);
	text_addf(&line, ", %s.", what);
	style_add_wrapped(out, style, 0, text_string(&line));
	text_add(out, "\n\n");
	add_rows(selection, part, style, out);
}

void blame_add(const struct selection *selection, const struct report_options *options,
	       const struct style *style, struct text *out)
{
	struct blame_part held, cpu;
	struct blame_pairs pairs;

	blame_pairs_make(selection->profile, selection->filter, &pairs);
	if (choose(&pairs, false, options->max_rows ? options->max_rows : ROWS, &held) == 0)
		text_add(out, "\nNo thread was seen to wait for what another one held.\n");
	add_part(selection, &held, "the time that threads waited for what another one held",
		 style, out);
	add_stacks(selection, &held, style, out);
	choose(&pairs, true, options->max_rows ? options->max_rows : CPU_ROWS, &cpu);
	add_part(selection, &cpu,
		 "the time that threads waited for a CPU while others of the recording ran; "
		 "programs that are not in it may have had CPUs as well",
		 style, out);
	add_unknown(&pairs, style, out);
	if (profile_get_info(selection->profile)->blames->is_cut)
		text_add(out, "The recording is very long: that is of its first part only.\n");
	free(held.rows);
	free(cpu.rows);
	blame_pairs_done(&pairs);
}
