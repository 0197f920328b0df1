/*
 * top_recorder - the "fathom record" whose recording a live view reads.
 *
 * A process of its own, so that reading and drawing are no part of what records: if the view is
 * killed, the recorder ends with what it attached to running on.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct top_recorder {
	pid_t pid;
	char *folder;    /* of our own; removed at the end */
	char *recording; /* in it, unless the user named one */
	char *output;    /* in it: what the command writes; NULL: it goes to standard error */
	bool has_ended;
	int status; /* of the recorder, as wait(2) has it */
};

/*
 * arguments: what stands behind "fathom record -q -o RECORDING", NULL-terminated.  recording NULL: in a
 * folder of our own.  keeps_output: the terminal is in use, so what the command writes there is
 * kept for the end.
 */
int top_recorder_start(char *const *arguments, const char *recording, bool keeps_output,
		       struct top_recorder *out_recorder, struct error *err);
/* Looks whether it has ended. */
void top_recorder_poll(struct top_recorder *recorder);
/* Ends the command, or lets the process go that was attached to, and waits for it. */
void top_recorder_stop(struct top_recorder *recorder);
/* Writes the end of what the command wrote, if that was kept, to standard error. */
void top_recorder_show_output(const struct top_recorder *recorder);
void top_recorder_done(struct top_recorder *recorder);
