/*
 * command - a subcommand of fathom as a value: each has a file cmd_*.c and a row in commands.c.
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
	/* For record and trace, as in env(1), nice(1) and timeout(1): */
	EXIT_CODE_NOT_STARTED = 125,
	EXIT_CODE_NOT_EXECUTABLE = 126,
	EXIT_CODE_NOT_FOUND = 127,
	EXIT_CODE_SIGNAL = 128, /* + the signal's number */
};

struct command {
	const char *name;
	const char *usage;   /* follows "fathom NAME" */
	const char *summary; /* one line */
	const struct option *options;
	int usage_exit_code;   /* if the options are wrong */
	bool stops_at_operand; /* words from the first operand on are another command */
	/*
	 * arguments: what follows the command's name, NULL-terminated. Returns the exit code.
	 */
	int (*run)(const struct command *command, char **arguments);
};

extern const struct command cmd_diff, cmd_record, cmd_trace, cmd_dump, cmd_report, cmd_export,
	cmd_info, cmd_top, cmd_open, cmd_help, cmd_doctor, cmd_module, cmd_version;

/* i from 0; NULL after the last. */
const struct command *command_at(size_t i);
/* NULL if there is no command of that name. */
const struct command *command_find(const char *name);

/* Adds the usage, the summary and the options. */
void command_add_usage(const struct command *command, struct text *out);
/* Adds a few lines with all commands. */
void command_add_overview(struct text *out);
/*
 * Prints the text, which the user asked for, to standard output, and frees it. Returns the exit
 * code.
 */
int command_print(struct text *text);
/* Prints "unknown command 'recrod': did you mean 'record'?" on stderr. */
void command_say_unknown(const char *name);

/*
 * Parses the arguments. True: continue, and *out_operands is the caller's. False: finished with
 * *out_exit_code, because help was requested or an error was reported.
 */
bool command_parse(const struct command *command, char **arguments, void *settings,
		   char ***out_operands, int *out_exit_code);
/*
 * Likewise for report, export and info, which take one recording; several are an error, too.
 * *out_path is the argument, or the default recording.
 */
bool command_parse_recording(const struct command *command, char **arguments, void *settings,
			     const char **out_path, int *out_exit_code);
