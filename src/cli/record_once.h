/* record_once - makes one recording of a command, or of running processes. */
#pragma once
#include "cli/record_end.h"
#include "collect/session/session.h"

#define RECORD_PIDS_MAX 256

/* Processes to record instead of a command. */
struct record_pids {
	pid_t pids[RECORD_PIDS_MAX];
	size_t count; /* 0: a command is recorded */
};

struct record_settings {
	struct session_options session;
	struct record_pids pids;
	const char *path; /* NULL: profile.fathom */
	struct record_end_options end;
	/* Runs of the command, each with its own recording; 0: a single one. */
	unsigned int runs;
	const char *against; /* a second command, run alternately with it; NULL: none */
};

/*
 * Records according to settings, and reports the result. Returns the exit code: the command's,
 * if it was started.
 */
int record_once(struct record_settings *settings);
