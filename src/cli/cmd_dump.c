/* fathom dump: shows what every thread of a process or core file is doing. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "dump/rows.h"
#include "dump/write.h"
#include "remote/open.h"
#include "remote/process.h"
#include "remote/snapshot.h"
#include "report/style.h"

/* Linux's PID_MAX_LIMIT. */
#define PID_MOST 4194304UL

struct settings {
	const char *core, *root;
	bool is_json, has_locals, has_native, has_full_names, has_no_pager;
	enum color_choice color;
};

static const struct option options[] = {
	{ "json", 0, NULL, "write JSON, with all frames (docs/dump.md)", option_set_flag,
	  offsetof(struct settings, is_json) },
	{ "locals", 0, NULL, "the local variables of Python's functions", option_set_flag,
	  offsetof(struct settings, has_locals) },
	{ "native", 0, NULL, "an interpreter's own frames, too", option_set_flag,
	  offsetof(struct settings, has_native) },
	{ "full-names", 0, NULL, "names and files in full, however wide", option_set_flag,
	  offsetof(struct settings, has_full_names) },
	{ "no-pager", 0, NULL, "write straight to the terminal", option_set_flag,
	  offsetof(struct settings, has_no_pager) },
	{ "core", 0, "FILE", "of a core file; PROGRAM: in place of the one at its path",
	  option_set_string, offsetof(struct settings, core) },
	{ "root", 0, "DIR", "where the files are that a core's program had mapped",
	  option_set_string, offsetof(struct settings, root) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  offsetof(struct settings, color) },
	{ 0 },
};

/* 0 if the word is not a valid pid. */
static pid_t read_pid(const char *word)
{
	char *end;
	unsigned long pid;

	errno = 0;
	pid = strtoul(word, &end, 10);
	return *word >= '0' && *word <= '9' && *end == '\0' && errno == 0 && pid <= PID_MOST
		       ? (pid_t)pid
		       : 0;
}

static int show(const struct settings *settings, const struct text *text)
{
	struct error err;
	const int rc = settings->is_json || settings->has_no_pager
			       ? output_write(STDOUT_FILENO, "standard output", text->data,
					      text->len, &err)
			       : pager_show(text->data, text->len, &err);

	if (rc == 0 || rc == -EPIPE)
		return EXIT_CODE_OK;
	say_error(&err);
	return EXIT_CODE_FAILED;
}

static int write_dump(const struct remote *remote, const struct snapshot *snapshot,
		      const struct settings *settings)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(text_done) struct text text = { 0 };
	CLEANUP(dump_done) struct dump dump;

	dump_name(remote, snapshot, settings->has_native, notes, &dump);
	if (settings->is_json)
		dump_write_json(&dump, &text);
	else
		dump_write_text(
			&dump, &(struct dump_options){ .has_native = settings->has_native },
			&(struct style){
				.width = settings->has_full_names
						 ? 0
						 : terminal_width(STDOUT_FILENO),
				.has_color = terminal_has_color(STDOUT_FILENO, settings->color),
			},
			&text);
	const int exit_code = show(settings, &text);

	say_notes(notes);
	return exit_code;
}

static int dump_opened(struct remote *remote, const struct settings *settings)
{
	struct snapshot snapshot;
	struct error err;
	int exit_code;

	remote->has_locals = settings->has_locals;
	if (snapshot_read(remote, &snapshot, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	exit_code = write_dump(remote, &snapshot, settings);
	snapshot_done(&snapshot);
	return exit_code;
}

static int dump_process(pid_t pid, const struct settings *settings)
{
	struct remote remote;
	struct error err;

	if (remote_open(pid, NULL, &remote, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	const int exit_code = dump_opened(&remote, settings);

	remote_close(&remote);
	return exit_code;
}

static int dump_core(const char *program, const struct settings *settings)
{
	struct remote remote;
	struct error err;

	if (remote_open_core(&(struct remote_core_options){ .path = settings->core,
							    .program = program,
							    .root = settings->root },
			     &remote, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	const int exit_code = dump_opened(&remote, settings);

	remote_close(&remote);
	return exit_code;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { 0 };
	CLEANUP(freep) char **operands = NULL;
	int exit_code;
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, &settings, &operands, &exit_code))
		return exit_code;
	if (settings.core && operands[0] && operands[1]) {
		say("dump --core FILE takes at most a program: fathom dump --core FILE "
		    "PROGRAM");
		return EXIT_CODE_USAGE;
	}
	if (settings.core)
		return dump_core(operands[0], &settings);
	if (settings.root) {
		say("--root DIR goes with --core FILE");
		return EXIT_CODE_USAGE;
	}
	if (!operands[0] || operands[1]) {
		say("dump takes the number of one process: fathom dump PID");
		return EXIT_CODE_USAGE;
	}
	pid = read_pid(operands[0]);
	if (pid == 0) {
		say("dump takes the number of a process, not '%s'", operands[0]);
		return EXIT_CODE_USAGE;
	}
	return dump_process(pid, &settings);
}

const struct command cmd_dump = {
	.name = "dump",
	.usage = "[OPTION…] PID|--core FILE [PROGRAM]",
	.summary = "Shows what every thread of a process, or of a core file, does",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
