/*
 * session - one run of a command under the profiler, from start to recording.
 *
 * Starts the command stopped, opens the counting events and the sideband, lets it go, answers
 * the agents, opens the sampling events on their threads, pumps rings into the recording until
 * the command has been reaped and its descendants have ended.  The recording holds addresses,
 * not names: load/ looks those up afterwards.
 *
 * src/collect is the only folder that starts processes.  It prints nothing: notes carry what
 * did not stop the work.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "collect/session/options.h"

struct error;
struct notes;
struct recording_writer;

struct session_result {
	int wait_status; /* of the command, as wait(2) gives it */
	bool is_command_status_known;
	bool is_attached; /* there was no command */
	enum session_failure failure;
	uint64_t samples;
	uint32_t survivors; /* descendants still running that are not followed any more */
};

/*
 * Runs the command to its end.  The writer stays the caller's and open: the caller
 * symbolizes and closes it.  Returns 0 once the command was started, whatever happened
 * after (what went wrong is in notes); a negative errno, out_result->failure and a sentence
 * if it was not.
 */
int session_run(const struct session_options *options, struct recording_writer *writer,
		struct notes *notes, struct session_result *out_result, struct error *err);
