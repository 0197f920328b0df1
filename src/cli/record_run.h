/*
 * record_run - runs a command and records it: what record and trace have in common.
 */
#pragma once

struct command;
struct error;
struct option;
struct record_settings;

/*
 * Parses the arguments into the settings, which may have been filled in before, and does it.
 * Returns the exit code: the command's, if it was started.
 */
int record_run(const struct command *command, char **arguments,
	       struct record_settings *settings);

/* An option's value, "1%", to a double: 0.01. */
int record_set_overhead(const struct option *option, void *place, const char *value,
			struct error *err);
