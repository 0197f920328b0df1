#include "report/next_steps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/function_origin.h"
#include "profile/group.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "profile/states.h"
#include "report/head.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"
#include "report/shell_word.h"
#include "report/style.h"

enum {
	STEPS_MAX = 5,
	STEPS = 3, /* and one that shows all */
	LOW_STEPS = 2,
	GAP = 2,
	/* Per cent: the lines of a function with less self time are not worth a look. */
	WORTH_LINES = 3,
	MANY_PROCESSES = 3,
	NAME_COLUMNS = 44,
	/* A program that took so long has waits to look at, however little it computed. */
	LONG_NS = 100000000,
	LOW = 32, /* terminals with fewer rows get fewer steps */
};

#define DEFAULT_PATH "profile.fathom"

struct step {
	struct text command;
	const char *why;
};

struct steps {
	const struct style *style;
	const char *path; /* of the recording; NULL: the default, which need not be named */
	struct step steps[STEPS_MAX];
	size_t count, most;
};

static bool has_room(const struct steps *steps, const struct text *command)
{
	return !steps->style->width ||
	       text_columns(text_string(command)) <= steps->style->width;
}

/* Adds a step; takes command. Left out if it is too long for a line. */
static void add_step(struct steps *steps, struct text *command, const char *why)
{
	struct text safe = { 0 };

	text_add_printable(&safe, text_string(command), command->len);
	text_done(command);
	if (steps->count == steps->most || !has_room(steps, &safe)) {
		text_done(&safe);
		return;
	}
	steps->steps[steps->count++] = (struct step){ .command = safe, .why = why };
}

/* Adds a view of the recording, or of a function in it. */
static void add_view(struct steps *steps, const char *view, const char *function,
		     const char *why)
{
	CLEANUP(text_done) struct text name = { 0 };
	struct text command = { 0 };

	text_addf(&command, "fathom %s", view);
	if (function) {
		if (steps->style->width)
			short_name_add(&name, function, NAME_COLUMNS);
		else
			text_add(&name, function);
		text_add(&command, " ");
		shell_word_add(&command, text_string(&name));
	}
	if (steps->path) {
		text_add(&command, " ");
		shell_word_add(&command, steps->path);
	}
	add_step(steps, &command, why);
}

/* Aligns the reasons in a column if all of them fit. */
static void write_steps(struct steps *steps, struct text *out)
{
	const size_t width = steps->style->width;
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
		if (!width || commands + GAP + whys <= width) {
			text_addf(out, "%*s", (int)(commands - text_columns(command)) + GAP,
				  "");
			style_add(out, steps->style, TINT_DIM, step->why);
		}
		text_add(out, "\n");
		text_done(&step->command);
	}
}

static bool has_percent(const struct group *row, const struct selection *selection)
{
	return number_percent(row->cost.self_ns, selection->ns) >= WORTH_LINES;
}

/*
 * Whether the row is of code with a name: bracketed rows have no callers, and addresses say
 * nothing.
 */
static bool is_code(const struct profile *profile, const struct group *row)
{
	const struct function *function = profile_get_function(profile, row->function);

	return function->language != LANGUAGE_FATHOM && row->name[0] != '[' &&
	       !function_is_nameless(profile, function);
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
		add_view(steps, "report --lines", own->name, "its lines");
	if (other)
		add_view(steps, "report --callers", other->name, "what calls it");
	else if (own)
		add_view(steps, "report --callees", own->name, "what it calls");
	groups_done(&groups);
}

/* Adds " -p 12 -p 13" for "[12,13]". */
static void add_pids(struct text *out, const char *pids)
{
	for (const char *at = pids; *(at += strcspn(at, "0123456789"));) {
		const size_t digits = strspn(at, "0123456789");

		text_addf(out, " -p %.*s", (int)digits, at);
		at += digits;
	}
}

/*
 * Suggests recording the command again with other options; a long command is cut, and the
 * reader completes it.
 */
static void add_recording(struct steps *steps, const struct profile_info *info,
			  const char *options, const char *why)
{
	struct text command = { 0 };

	if (info->command_count == 0 && !info->pids)
		return;
	text_addf(&command, "fathom record %s", options);
	if (info->pids) {
		add_pids(&command, info->pids);
		add_step(steps, &command, why);
		return;
	}
	text_add(&command, " -- ");
	const size_t len = command.len;

	for (size_t i = 0; i < info->command_count; i++) {
		text_add(&command, i > 0 ? " " : "");
		shell_word_add(&command, info->command[i]);
	}
	if (!has_room(steps, &command)) {
		command.data[command.len = len] = '\0';
		text_add(&command, "…");
	}
	add_step(steps, &command, why);
}

/* Steps for an attached process that hardly ran: what it waits for, and where. */
static void add_idle_steps(struct steps *steps, const struct profile_info *info)
{
	struct text command = { 0 };

	add_recording(steps, info, "--clock wall", "what it waits for");
	text_addf(&command, "fathom dump %lu", strtoul(info->pids + 1, NULL, 10));
	add_step(steps, &command, "where it is now");
}

/* Suggests a loop: "sh -c 'for i in $(seq 100); do make --version; done'". */
static void add_repetition(struct steps *steps, const struct profile_info *info)
{
	CLEANUP(text_done) struct text loop = { 0 };
	struct text command = { 0 };

	if (info->command_count == 0)
		return;
	text_add(&loop, "for i in $(seq 100); do");
	for (size_t i = 0; i < info->command_count; i++) {
		text_add(&loop, " ");
		shell_word_add(&loop, info->command[i]);
	}
	text_add(&loop, "; done");
	text_add(&command, "fathom record -- sh -c ");
	shell_word_add(&command, text_string(&loop));
	add_step(steps, &command, "a hundred of it");
}

static void add_steps(struct steps *steps, const struct selection *selection,
		      const struct packages *packages)
{
	const struct profile_info *info = profile_get_info(selection->profile);

	const bool is_brief = head_is_brief(selection->profile);

	if (head_is_idle(selection->profile)) {
		add_idle_steps(steps, info);
		return;
	}
	if (head_is_waiting(selection->profile) && (!is_brief || info->wall_ns > LONG_NS)) {
		const bool is_full = head_was_machine_full(info);

		/* It may have waited for a CPU alone: the step is not in place of another. */
		if (is_full && steps->most > LOW_STEPS)
			steps->most++;
		add_recording(steps, info, "--clock wall",
			      is_full ? "what it waits for, if not a CPU"
				      : "what it waits for");
	}
	if (is_brief) {
		add_recording(steps, info, "--rate 20000", "more samples of it");
		add_repetition(steps, info);
		return;
	}
	add_function_steps(steps, selection, packages);
	if (profile_process_count(selection->profile) >= MANY_PROCESSES)
		add_view(steps, "report --by program", NULL, "which programs took it");
	else
		add_view(steps, "report --by package", NULL, "own code and each package");
	steps->most++;
	add_view(steps, "open", NULL, "all of it, as a page");
}

void next_steps_add(const struct selection *selection, const struct packages *packages,
		    const struct report_options *options, const struct style *style,
		    struct text *out)
{
	const char *path = options->path && strcmp(options->path, DEFAULT_PATH) != 0
				   ? options->path
				   : NULL;
	struct steps steps = { .style = style,
			       .path = path,
			       .most = options->height && options->height < LOW ? LOW_STEPS
										: STEPS };

	if (options->is_after_recording && options->path) {
		CLEANUP(text_done) struct text safe = { 0 };

		text_add_printable(&safe, options->path, strlen(options->path));
		text_addf(out, "Recorded in %s.\n", text_string(&safe));
	}
	/* A path too long for the commands is mentioned once, above them. */
	if (path && style->width && text_columns(path) > style->width / 2) {
		text_add(out, "Next, each with the recording's path behind it:\n");
		steps.path = NULL;
	}
	add_steps(&steps, selection, packages);
	write_steps(&steps, out);
}
