#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/options.h"
#include "cli/record_end.h"
#include "cli/record_file.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "collect/allowance.h"
#include "collect/session.h"
#include "record/writer.h"

#define RATE_MAX_HZ 50000

struct settings {
	struct session_options session;
	const char *path; /* NULL: profile.fathom */
	struct record_end_options end;
};

static int set_clock(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	static const char *const words[] = {
		[CLOCK_KIND_CPU] = "cpu", [CLOCK_KIND_USER] = "user", NULL
	};

	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0) {
			*(enum clock_kind *)place = (enum clock_kind)i;
			return 0;
		}
	}
	return option_refuse_word(option, words, value, err);
}

static int set_trigger(const struct option *option, void *place, const char *value,
		       struct error *err)
{
	static const char *const words[] = {
		[TRIGGER_AUTO] = "auto",
		[TRIGGER_SIGTRAP] = "sigtrap",
		[TRIGGER_TIMER] = "timer",
		NULL,
	};

	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0) {
			*(enum trigger_kind *)place = (enum trigger_kind)i;
			return 0;
		}
	}
	return option_refuse_word(option, words, value, err);
}

static int set_rate(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	unsigned long rate_hz = 0;
	int rc = option_read_number(option, value, 1, RATE_MAX_HZ, &rate_hz, err);

	if (rc == 0)
		*(uint32_t *)place = (uint32_t)rate_hz;
	return rc;
}

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{ "clock", 0, "CLOCK", "cpu (user and system time, the default) or user", set_clock,
	  AT(session.clock) },
	{ "rate", 'r', "HZ", "samples per second of CPU time, 1 to 50000; 1000 unless told",
	  set_rate, AT(session.rate_hz) },
	{ "output", 'o', "FILE", "the recording; profile.fathom unless told", option_set_string,
	  AT(path) },
	{ "no-children", 0, NULL, "sample the command's own process only", option_set_flag,
	  AT(session.no_children) },
	{ "wait", 0, NULL, "follow descendants that outlive the command", option_set_flag,
	  AT(session.wait) },
	{ "quiet", 'q', NULL, "no report at the end: stderr is the command's alone",
	  option_set_flag, AT(end.is_quiet) },
	{ "native", 0, NULL, "in the report at the end: an interpreter's own frames, too",
	  option_set_flag, AT(end.shows_plumbing) },
	{ "trigger", 0, "TRIGGER", "what interrupts threads: auto, sigtrap or timer",
	  set_trigger, AT(session.trigger) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  AT(end.color) },
	{ 0 },
};
#undef AT

/* FATHOM_AGENT, or where the build or the installation has it. */
static char *find_agent(struct error *err)
{
	static const char *const candidates[] = {
		"../vantage/agent/libfathom-agent.so",
		FATHOM_AGENT_FROM_BIN,
		FATHOM_AGENT_INSTALLED,
		NULL,
	};
	const char *named = getenv("FATHOM_AGENT");
	CLEANUP(freep) char *beside = NULL;

	if (!named || !*named) {
		named = beside = executable_find_beside(candidates);
		errno = ENOENT;
	}
	/* Whole, for the command may go to another folder before it runs the next program. */
	char *path = named ? realpath(named, NULL) : NULL;

	if (!path)
		error_errno(err, -errno, "cannot read the agent (%s); FATHOM_AGENT may name it",
			    named ? named : FATHOM_AGENT_INSTALLED);
	return path;
}

/* Where the agent is, for the settings.  The caller frees it. */
static int prepare_agent(struct settings *settings, char **out_path, struct error *err)
{
	CLEANUP(freep) char *path = find_agent(err);

	if (!path)
		return -ENOENT;
	/* What ld.so(8) takes LD_PRELOAD apart at. */
	if (strpbrk(path, " :"))
		return error_set(
			err, -EINVAL,
			"cannot preload %s: its path has a space or a colon; move it, or name "
			"a copy of it in FATHOM_AGENT",
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

	if (!result->is_command_status_known)
		return EXIT_CODE_NOT_STARTED;
	return WIFSIGNALED(status) ? EXIT_CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What was noted stands in the recording, so that every report of it can say it. */
static void keep_notes(struct recording_writer *writer, const struct notes *notes)
{
	for (size_t i = 0; i < notes_count(notes); i++)
		recording_writer_note(writer, notes_text(notes, i, NULL));
}

/* From here on the exit code is the command's, whatever happens to us. */
static int record_into(struct recording_writer *writer, struct record_file *file,
		       const struct settings *settings)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct session_result result = { 0 };
	struct error err;
	int rc = session_run(&settings->session, writer, notes, &result, &err);

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
	record_end(file->path, &settings->end);
	return exit_code_of_status(&result);
}

static int record(struct settings *settings)
{
	CLEANUP(record_file_done) struct record_file file = { 0 };
	CLEANUP(freep) char *agent_path = NULL;
	struct recording_writer *writer = NULL;
	struct error err;
	int not_run = executable_check(settings->session.argv[0], &err);
	int rc = not_run;

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

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { 0 };
	struct allowance allowance;
	char **operands;
	int exit_code;

	if (!command_parse(command, arguments, &settings, &operands, &exit_code))
		return exit_code;
	settings.session.argv = operands;
	allowance_raise(&allowance);
	settings.session.allowance = &allowance;
	if (operands[0]) {
		exit_code = record(&settings);
	} else {
		say("record: it needs a command to run: fathom record -- COMMAND");
		exit_code = EXIT_CODE_NOT_STARTED;
	}
	free(operands);
	return exit_code;
}

const struct command cmd_record = {
	.name = "record",
	.usage = "[OPTION…] [--] COMMAND [ARGUMENT…]",
	.summary = "Runs a command and records where its time goes",
	.options = options,
	.usage_exit_code = EXIT_CODE_NOT_STARTED,
	.stops_at_operand = true,
	.run = run,
};
