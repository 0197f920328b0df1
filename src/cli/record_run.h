/*
 * record_run - runs a command and records it: what record and trace have in common.
 */
#pragma once
#include "cli/record_end.h"
#include "collect/session.h"

struct command;

struct record_settings {
	struct session_options session;
	const char *path; /* NULL: profile.fathom */
	struct record_end_options end;
};

/*
 * Parses the arguments into the settings, which may have been filled in before, and does it.
 * Returns the exit code: the command's, if it was started.
 */
int record_run(const struct command *command, char **arguments,
	       struct record_settings *settings);
