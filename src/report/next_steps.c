#include "report/next_steps.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "report/number.h"
#include "report/selection.h"
#include "report/shell_word.h"
#include "report/style.h"

enum {
	STEPS_MAX = 4,
	GAP = 2,
	/* Per cent: a function with less of its own is not worth a look at its lines. */
	WORTH_LINES = 3,
	MANY_PROCESSES = 3,
};

#define DEFAULT_PATH "profile.fathom"

struct step {
	struct text command;
	const char *why;
};

struct steps {
	size_t width; /* 0: any */
	struct step steps[STEPS_MAX];
	size_t count;
};

/* Left out where its function has too long a name for a line. */
static void add_step(struct steps *steps, const char *view, const char *function,
		     const char *why)
{
	CLEANUP(text_done) struct text command = { 0 };
	CLEANUP(text_done) struct text safe = { 0 };

	text_addf(&command, "fathom %s", view);
	if (function) {
		text_add(&command, " ");
		shell_word_add(&command, function);
	}
	text_add_printable(&safe, text_string(&command), command.len);
	if (steps->width && text_columns(text_string(&safe)) > steps->width)
		return;
	steps->steps[steps->count++] = (struct step){ .command = safe, .why = why };
	safe = (struct text){ 0 }; /* now the step's */
}

/* The recording is named in each command, if the lines are long enough for that; else above them. */
static void add_path(struct steps *steps, const char *path, struct text *out)
{
	CLEANUP(text_done) struct text word = { 0 };
	CLEANUP(text_done) struct text safe = { 0 };
	bool has_room = true;

	shell_word_add(&word, path);
	text_add_printable(&safe, text_string(&word), word.len);
	for (size_t i = 0; i < steps->count; i++) {
		const size_t columns = text_columns(text_string(&steps->steps[i].command)) + 1 +
				       text_columns(text_string(&safe));

		has_room = has_room && (!steps->width || columns <= steps->width);
	}
	if (!has_room)
		text_add(out, "Next, each with the recording's path behind it:\n");
	for (size_t i = 0; has_room && i < steps->count; i++)
		text_addf(&steps->steps[i].command, " %s", text_string(&safe));
}

/* The reasons stand in a column, if all of them fit. */
static void write_steps(struct steps *steps, const struct style *style, struct text *out)
{
	size_t commands = 0, whys = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const size_t columns = text_columns(text_string(&steps->steps[i].command));

		commands = columns > commands ? columns : commands;
		whys = strlen(steps->steps[i].why) > whys ? strlen(steps->steps[i].why) : whys;
	}
	for (size_t i = 0; i < steps->count; i++) {
		struct step *step = &steps->steps[i];
		const char *command = text_string(&step->command);

		text_add(out, command);
		if (!style->width || commands + GAP + whys <= style->width) {
			text_addf(out, "%*s", (int)(commands - text_columns(command)) + GAP,
				  "");
			style_add(out, style, TINT_DIM, step->why);
		}
		text_add(out, "\n");
		text_done(&step->command);
	}
}

static bool has_percent(const struct group *row, const struct selection *selection)
{
	return number_percent(row->cost.self_ns, selection->ns) >= WORTH_LINES;
}

/* Rows in brackets are of no function that has callers. */
static bool is_code(const struct profile *profile, const struct group *row)
{
	return profile_get_function(profile, row->function)->language != LANGUAGE_FATHOM &&
	       row->name[0] != '[';
}

static void add_function_steps(struct steps *steps, const struct selection *selection,
			       const struct packages *packages)
{
	const struct group *own = NULL, *other = NULL;
	struct groups groups;

	groups_make(selection->profile, GROUP_BY_FUNCTION, selection->filter, &groups);
	for (size_t i = 0; i < groups.count && has_percent(&groups.rows[i], selection); i++) {
		const struct group *row = &groups.rows[i];
		const bool is_own = packages_is_own(packages, row->function);

		if (is_own && row->file && !own)
			own = row;
		if (!other && !is_own && is_code(selection->profile, row))
			other = row;
	}
	if (own && !profile_is_trace(selection->profile))
		add_step(steps, "report --lines", own->name, "its lines");
	if (other)
		add_step(steps, "report --callers", other->name, "what calls it");
	else if (own)
		add_step(steps, "report --callees", own->name, "what it calls");
	groups_done(&groups);
}

void next_steps_add(const struct selection *selection, const struct packages *packages,
		    const char *path, const struct style *style, struct text *out)
{
	struct steps steps = { .width = style->width };

	text_add(out, "\n");
	add_function_steps(&steps, selection, packages);
	if (profile_process_count(selection->profile) >= MANY_PROCESSES)
		add_step(&steps, "report --by program", NULL, "which programs took it");
	else
		add_step(&steps, "report --by package", NULL, "own code and each package");
	add_step(&steps, "open", NULL, "all of it, as a page");
	if (path && strcmp(path, DEFAULT_PATH) != 0)
		add_path(&steps, path, out);
	write_steps(&steps, style, out);
}
