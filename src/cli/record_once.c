#include "cli/record_once.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/export_file.h"
#include "cli/progress.h"
#include "cli/record_file.h"
#include "cli/report_so_far.h"
#include "cli/say.h"
#include "record/writer.h"

/* An agent's file is named by FATHOM_AGENT, or in the build's or installation's folder. */
#define PLACES_OF(file)                                            \
	{                                                          \
		"../agent/" file, FATHOM_AGENTS_FROM_BIN "/" file, \
			FATHOM_AGENTS_INSTALLED "/" file, NULL     \
	}
static const struct agent_file {
	const char *name;
	const char *places[4];
} agent_of_record = { "libfathom-agent-record.so", PLACES_OF("libfathom-agent-record.so") },
  agent_of_trace = { "libfathom-agent-trace.so", PLACES_OF("libfathom-agent-trace.so") };

static char *find_agent(const struct agent_file *file, struct error *err)
{
	const char *folder = getenv("FATHOM_AGENT");
	CLEANUP(freep)
	char *found = folder && *folder ? xasprintf("%s/%s", folder, file->name)
					: executable_find_beside(file->places);

	errno = ENOENT;
	/*
	 * An absolute path, as the command may change its directory before it executes the next
	 * program.
	 */
	char *path = found ? realpath(found, NULL) : NULL;

	if (!path)
		error_errno(err, -errno,
			    "cannot read the agent (%s); FATHOM_AGENT may name its folder",
			    found ? found : file->places[2]);
	return path;
}

/* Finds the agent and stores it in the settings. The caller frees the path. */
static int prepare_agent(struct record_settings *settings, char **out_path, struct error *err)
{
	CLEANUP(freep)
	char *path = find_agent(settings->session.is_trace ? &agent_of_trace : &agent_of_record,
				err);

	if (!path)
		return -ENOENT;
	/* ld.so(8) splits LD_PRELOAD at these. */
	if (strpbrk(path, " :"))
		return error_set(
			err, -EINVAL,
			"cannot preload %s: its path has a space or a colon; move it, or name "
			"a folder with a copy of it in FATHOM_AGENT",
			path);
	settings->session.agent_path = *out_path = path;
	path = NULL; /* now the caller's */
	return 0;
}

static int exit_code_of_failure(enum session_failure failure)
{
	static const int codes[] = {
		[SESSION_FAILURE_NONE] = EXIT_CODE_NOT_STARTED,
		[SESSION_FAILURE_OURS] = EXIT_CODE_NOT_STARTED,
		[SESSION_FAILURE_NOT_EXECUTABLE] = EXIT_CODE_NOT_EXECUTABLE,
		[SESSION_FAILURE_NOT_FOUND] = EXIT_CODE_NOT_FOUND,
	};

	return codes[failure];
}

static int exit_code_of_status(const struct session_result *result)
{
	int status = result->wait_status;

	if (result->is_attached)
		return EXIT_CODE_OK;
	if (!result->is_command_status_known)
		return EXIT_CODE_NOT_STARTED;
	return WIFSIGNALED(status) ? EXIT_CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Stores notes in the recording, so that every report shows them. */
static void keep_notes(struct recording_writer *writer, const struct notes *notes)
{
	for (size_t i = 0; i < notes_count(notes); i++)
		recording_writer_note(writer, notes_text(notes, i, NULL));
}

struct live {
	struct progress progress;
	const char *path;
};

static void report_waiting(void *context, size_t done, size_t total)
{
	progress_report(&((struct live *)context)->progress, done, total);
}

static void report_so_far(void *context)
{
	report_so_far_start(((const struct live *)context)->path);
}

/* With -q, which prints no report: why a recording of running processes has no samples. */
static void say_why_nothing(const struct notes *notes)
{
	say("no samples were taken: nothing that could be sampled used any CPU time");
	for (size_t i = 0; i < notes_count(notes); i++)
		say("%s", notes_text(notes, i, NULL));
}

/* From here on the exit code is the command's, whatever happens to fathom. */
static int record_into(struct recording_writer *writer, struct record_file *file,
		       const struct record_settings *settings)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct session_result result = { 0 };
	struct live live = { .progress.what = "waiting for the disk", .path = file->path };
	struct session_options session = settings->session;
	struct error err;

	session.waits_for_disk = settings->end.is_quiet ? NULL : report_waiting;
	session.wants_report = report_so_far;
	session.context = &live;
	int rc = session_run(&session, writer, notes, &result, &err);

	signal(SIGPIPE, SIG_IGN);
	if (rc < 0) {
		recording_writer_close(writer, NULL);
		record_file_take_back(file);
		say_error(&err);
		return exit_code_of_failure(result.failure);
	}
	keep_notes(writer, notes);
	if (recording_writer_close(writer, &err) < 0)
		say("the recording is not whole: %s", err.text);
	if (settings->end.is_quiet && result.is_attached && !session.is_wall &&
	    result.samples == 0)
		say_why_nothing(notes);
	record_end(file->path, &settings->end);
	return exit_code_of_status(&result);
}

/*
 * If the output's name is that of an export, x.html, the recording is x.fathom next to it: its
 * path is *out_path, which the caller frees.
 */
static int take_export(struct record_settings *settings, char **out_path, struct error *err)
{
	const struct exporter *exporter =
		settings->path ? export_file_format(settings->path) : NULL;

	if (!exporter)
		return settings->path ? export_file_refuse_picture(settings->path, err) : 0;
	const int rc = export_file_check(settings->path, exporter, err);

	if (rc < 0)
		return rc;
	settings->end.exporter = exporter;
	settings->end.export_path = settings->path;
	settings->path = *out_path = export_file_recording(settings->path, exporter);
	return 0;
}

int record_once(struct record_settings *settings)
{
	CLEANUP(record_file_done) struct record_file file = { 0 };
	CLEANUP(freep) char *agent_path = NULL, *recording_path = NULL;
	struct recording_writer *writer = NULL;
	struct error err;
	const bool has_command = settings->session.argv != NULL;
	int not_run = has_command ? executable_check(settings->session.argv[0], &err) : 0;
	int rc = not_run;

	if (rc == 0)
		rc = take_export(settings, &recording_path, &err);
	if (rc == 0)
		rc = prepare_agent(settings, &agent_path, &err);
	if (rc == 0)
		rc = record_file_create(settings->path, &file, &writer, &err);
	if (rc == 0)
		return record_into(writer, &file, settings);
	say_error(&err);
	if (not_run < 0)
		return not_run == -ENOENT ? EXIT_CODE_NOT_FOUND : EXIT_CODE_NOT_EXECUTABLE;
	return EXIT_CODE_NOT_STARTED;
}
