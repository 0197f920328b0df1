/*
 * record_run - runs a command and records it: what record and trace have in common.
 */
#pragma once
#include "cli/record_end.h"
#include "collect/session.h"

struct command;

#define RECORD_PIDS_MAX 256

/* What is recorded in place of a command. */
struct record_pids {
	pid_t pids[RECORD_PIDS_MAX];
	size_t count; /* 0: none */
};

struct record_settings {
	struct session_options session;
	struct record_pids pids;
	const char *path; /* NULL: profile.fathom */
	struct record_end_options end;
};

/*
 * Parses the arguments into the settings, which may have been filled in before, and does it.
 * Returns the exit code: the command's, if it was started.
 */
int record_run(const struct command *command, char **arguments,
	       struct record_settings *settings);
