/*
 * top_recorder - runs the "fathom record" whose recording a live view reads.
 *
 * A process of its own, so that reading and drawing do not disturb the recording; if the view
 * is killed, the recorder ends, and a process it is attached to runs on.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct top_recorder {
	pid_t pid;
	char *folder;    /* a temporary one, removed at the end */
	char *recording; /* in that folder, unless the user named one */
	char *output;    /* in the folder: the command's output; NULL: standard error */
	bool has_ended;
	int status; /* of the recorder, as from wait(2) */
};

/*
 * arguments: what follows "fathom record -q -o RECORDING", NULL-terminated. recording NULL: in
 * a temporary folder. keeps_output: the terminal is in use, so the command's output is kept in
 * a file until the end.
 */
int top_recorder_start(char *const *arguments, const char *recording, bool keeps_output,
		       struct top_recorder *out_recorder, struct error *err);
/* Checks whether it has ended. */
void top_recorder_poll(struct top_recorder *recorder);
/* Ends the command, or detaches from the process, and waits for the recorder. */
void top_recorder_stop(struct top_recorder *recorder);
/* Prints the end of the command's output on standard error, if it was kept. */
void top_recorder_show_output(const struct top_recorder *recorder);
void top_recorder_done(struct top_recorder *recorder);
