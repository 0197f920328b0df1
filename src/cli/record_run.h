/* record_run - runs and records a command: shared by record and trace. */
#pragma once

struct command;
struct error;
struct option;
struct record_settings;

/*
 * Parses the arguments into the settings, which may be filled in already, and records. Returns
 * the exit code: the command's, if it was started.
 */
int record_run(const struct command *command, char **arguments,
	       struct record_settings *settings);

/* Parses an option's value, "1%", into a double: 0.01. */
int record_set_overhead(const struct option *option, void *place, const char *value,
			struct error *err);
