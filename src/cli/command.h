/*
 * command - a command of fathom is a value: one file cmd_*.c and one row in commands.c.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct option;
struct text;

enum exit_code {
	EXIT_CODE_OK = 0,
	EXIT_CODE_FAILED = 1,
	EXIT_CODE_USAGE = 2,
	/* Of record and trace, as env(1), nice(1) and timeout(1) have them: */
	EXIT_CODE_NOT_STARTED = 125,
	EXIT_CODE_NOT_EXECUTABLE = 126,
	EXIT_CODE_NOT_FOUND = 127,
	EXIT_CODE_SIGNAL = 128, /* + the signal's number */
};

struct command {
	const char *name;
	const char *usage;   /* behind "fathom NAME" */
	const char *summary; /* one line */
	const struct option *options;
	int usage_exit_code;   /* of a mistake in the options */
	bool stops_at_operand; /* what begins at the first operand is another command's */
	/* arguments: what stands behind the command's name, NULL-terminated.  Returns the exit
	 * code. */
	int (*run)(const struct command *command, char **arguments);
};

extern const struct command cmd_diff, cmd_record, cmd_trace, cmd_dump, cmd_report, cmd_export,
	cmd_info, cmd_top, cmd_open, cmd_help, cmd_doctor, cmd_module, cmd_version;

/* i from 0; NULL behind the last. */
const struct command *command_at(size_t i);
/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* The usage, the summary and the options. */
void command_add_usage(const struct command *command, struct text *out);
/* All commands, in a few lines. */
void command_add_overview(struct text *out);
/* What was asked for, to standard output: its exit code.  Takes what is in the text. */
int command_print(struct text *text);
/* "unknown command 'recrod': did you mean 'record'?" on stderr. */
void command_say_unknown(const char *name);

/*
 * Parses the arguments.  True if the command should go on; *out_operands is the caller's then.
 * False when it is done, with *out_exit_code: help was asked for, or a mistake was reported.
 */
bool command_parse(const struct command *command, char **arguments, void *settings,
		   char ***out_operands, int *out_exit_code);
/*
 * The same for report, export and info, which take one recording; several are a mistake, too.
 * *out_path is the argument's, or that of the recording where none is named.
 */
bool command_parse_recording(const struct command *command, char **arguments, void *settings,
			     const char **out_path, int *out_exit_code);
