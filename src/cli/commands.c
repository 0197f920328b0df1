/* The list of commands, and what they share: usage, options, unknown names. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/executable.h"
#include "cli/nearest.h"
#include "cli/other_words.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "report/style.h"

static const struct command *const commands[] = {
	&cmd_record, &cmd_trace, &cmd_top,    &cmd_dump,   &cmd_report, &cmd_diff,    &cmd_open,
	&cmd_export, &cmd_info,  &cmd_module, &cmd_doctor, &cmd_help,   &cmd_version,
};

const struct command *command_at(size_t i)
{
	return i < sizeof commands / sizeof commands[0] ? commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; command_at(i); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

void command_say_unknown(const char *name)
{
	struct nearest nearest = { 0 };
	const char *answer = other_word_of_command(name);

	for (size_t i = 0; command_at(i); i++)
		nearest_consider(&nearest, name, commands[i]->name);
	if (answer)
		say("unknown command '%s': %s", name, answer);
	else if (executable_check(name, NULL) == 0 || access(name, F_OK) == 0)
		say("unknown command '%s': to record that program, 'fathom record -- %s'", name,
		    name);
	else if (nearest.word)
		say("unknown command '%s': did you mean '%s'?", name, nearest.word);
	else
		say("unknown command '%s': 'fathom help' lists those there are", name);
}

/* The columns where the right-hand texts of options and of commands begin. */
enum { OPTION_COLUMN = 26, COMMAND_COLUMN = 12, USAGE_COLUMN = 7 };

static void add_option(const struct option *option, const struct style *style, struct text *out)
{
	struct text left = { 0 };

	if (option->letter)
		text_addf(&left, "  -%c, --%s", option->letter, option->name);
	else
		text_addf(&left, "      --%s", option->name);
	if (option->argument)
		text_addf(&left, " %s", option->argument);
	const size_t columns = text_columns(text_string(&left));

	text_add(out, text_string(&left));
	if (columns < OPTION_COLUMN)
		text_addf(out, "%*s", (int)(OPTION_COLUMN - columns), "");
	else
		text_addf(out, "\n%*s", OPTION_COLUMN, "");
	style_add_wrapped(out, style, OPTION_COLUMN, option->help);
	text_add(out, "\n");
	text_done(&left);
}

/* Adds the command's forms, a line each. */
static void add_forms(const struct command *command, const struct style *style,
		      struct text *out)
{
	CLEANUP(freep) char *usage = xasprintf("fathom %s %s", command->name, command->usage);
	char *rest = usage;

	for (char *form = strsep(&rest, "\n"); form; form = strsep(&rest, "\n")) {
		text_addf(out, "%*s", USAGE_COLUMN, form == usage ? "usage: " : "");
		style_add_wrapped(out, style, USAGE_COLUMN, form + strspn(form, " "));
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

void command_add_usage(const struct command *command, struct text *out)
{
	const struct style style = { .width = terminal_width(STDOUT_FILENO) };
	CLEANUP(text_done) struct text summary = { 0 };

	text_addf(&summary, "%s.", command->summary);
	add_forms(command, &style, out);
	style_add_wrapped(out, &style, 0, text_string(&summary));
	text_add(out, "\n");
	if (command->options->name)
		text_add(out, "\n");
	for (const struct option *option = command->options; option->name; option++)
		add_option(option, &style, out);
}

void command_add_overview(struct text *out)
{
	const struct style style = { .width = terminal_width(STDOUT_FILENO) };

	text_add(out, "usage: fathom COMMAND [OPTION…] [ARGUMENT…]\n\n");
	style_add_wrapped(
		out, &style, 0,
		"A profiler for native, Python and Ruby programs: where does the time go?");
	text_add(out, "\n\n");
	for (size_t i = 0; command_at(i); i++) {
		text_addf(out, "  %-*s", COMMAND_COLUMN - 2, commands[i]->name);
		style_add_wrapped(out, &style, COMMAND_COLUMN, commands[i]->summary);
		text_add(out, "\n");
	}
	text_add(out, "\nBegin with:  fathom record -- COMMAND\n"
		      "Then:        fathom report, or fathom open for a page\n"
		      "More about one: fathom help COMMAND\n");
}

int command_print(struct text *text)
{
	struct error err;
	const int rc =
		output_write(STDOUT_FILENO, "standard output", text->data, text->len, &err);

	text_done(text);
	if (rc < 0)
		say_error(&err);
	return rc < 0 ? EXIT_CODE_FAILED : EXIT_CODE_OK;
}

static int print_usage(const struct command *command)
{
	struct text usage = { 0 };

	command_add_usage(command, &usage);
	return command_print(&usage);
}

bool command_parse(const struct command *command, char **arguments, void *settings,
		   char ***out_operands, int *out_exit_code)
{
	struct options_result result;
	struct error err;

	if (options_parse(command->name, command->options, arguments, command->stops_at_operand,
			  settings, &result, &err) < 0) {
		say("%s: %s", command->name, err.text);
		*out_exit_code = command->usage_exit_code;
		return false;
	}
	if (result.wants_help) {
		free(result.operands);
		*out_exit_code = print_usage(command);
		return false;
	}
	*out_operands = result.operands;
	return true;
}

bool command_parse_recording(const struct command *command, char **arguments, void *settings,
			     const char **out_path, int *out_exit_code)
{
	CLEANUP(freep) char **operands = NULL;

	if (!command_parse(command, arguments, settings, &operands, out_exit_code))
		return false;
	if (operands[0] && operands[1]) {
		say("%s: it takes one recording, and '%s' is a second one", command->name,
		    operands[1]);
		*out_exit_code = command->usage_exit_code;
		return false;
	}
	*out_path = operands[0] ? operands[0] : "profile.fathom";
	return true;
}
