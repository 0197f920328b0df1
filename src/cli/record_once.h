/*
 * record_once - one recording of a command, or of processes that run already.
 */
#pragma once
#include "cli/record_end.h"
#include "collect/session/session.h"

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
	unsigned int runs;   /* of the command, each into a recording of its own; 0: one */
	const char *against; /* a second command, in turn with it; NULL: none */
};

/*
 * Records what the settings name, and reports what came of it.  Returns the exit code: the
 * command's, if it was started.
 */
int record_once(struct record_settings *settings);
