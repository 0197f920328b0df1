/* fathom export: converts a recording to the format of another tool. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/export_file.h"
#include "cli/nearest.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/other_words.h"
#include "cli/say.h"
#include "export/export.h"
#include "profile/profile.h"

struct settings {
	const struct exporter *exporter;
	const char *path; /* NULL: standard output */
	struct open_options open;
};

/* Adds "folded, speedscope, …". */
static void add_formats(struct text *out)
{
	for (size_t i = 0; exporter_at(i); i++)
		text_addf(out, "%s%s", i ? ", " : "", exporter_at(i)->name);
}

static int set_format(const struct option *option, void *place, const char *value,
		      struct error *err)
{
	CLEANUP(text_done) struct text formats = { 0 };
	struct nearest nearest = { 0 };
	const char *other = other_word_of_command(value);

	*(const struct exporter **)place = exporter_find(value);
	if (exporter_find(value))
		return 0;
	add_formats(&formats);
	for (size_t i = 0; exporter_at(i); i++)
		nearest_consider(&nearest, value, exporter_at(i)->name);
	if (other)
		return error_set(err, -EINVAL, "unknown format '%s': %s", value, other);
	if (nearest.word)
		return error_set(err, -EINVAL, "unknown format '%s': did you mean '%s'?", value,
				 nearest.word);
	return error_set(err, -EINVAL, "unknown format '%s': option '--%s' takes one of %s",
			 value, option->name, text_string(&formats));
}

static const struct option options[] = {
	{ "format", 'f', "FORMAT",
	  "folded, speedscope, pprof, flamegraph, svg, pstats or callgrind", set_format,
	  offsetof(struct settings, exporter) },
	{ "output", 'o', "OUT", "write to this file, not to standard output", option_set_string,
	  offsetof(struct settings, path) },
	{ "process", 0, "PROCESS", "only this process: its pid or its name", option_set_string,
	  offsetof(struct settings, open.part.process) },
	{ "thread", 0, "THREAD", "only this thread: its id or its name", option_set_string,
	  offsetof(struct settings, open.part.thread) },
	{ "module", 0, "MODULE", "only time in this program or library", option_set_string,
	  offsetof(struct settings, open.part.module) },
	{ "package", 0, "PACKAGE", "only time in this package; own: in your own code",
	  option_set_string, offsetof(struct settings, open.part.package) },
	{ "state", 0, "STATE,…",
	  "only time in these states of the wall clock, like io,lock; waiting: all but running",
	  option_set_string, offsetof(struct settings, open.part.state) },
	{ "no-states", 0, NULL,
	  "folded, speedscope, svg: stacks of the wall clock without the state as last frame",
	  option_set_flag, offsetof(struct settings, open.has_no_states) },
	{ "own", 0, "PART,…",
	  "what is your own code: files and modules with PART in their path", option_set_string,
	  offsetof(struct settings, open.own) },
	{ "full-names", 0, NULL,
	  "folded, svg: C++ and Rust names with all that is in their brackets", option_set_flag,
	  offsetof(struct settings, open.has_full_names) },
	{ "no-debuginfod", 0, NULL, "ask no server for debug files", option_set_flag,
	  offsetof(struct settings, open.asks_no_servers) },
	{ "native", 0, NULL, "an interpreter's own frames, too, where its language's stand",
	  option_set_flag, offsetof(struct settings, open.shows_plumbing) },
	{ "raw", 0, NULL, "times of traced calls as they were measured", option_set_flag,
	  offsetof(struct settings, open.has_raw_times) },
	{ 0 },
};

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

/* Refuses impossible settings before any work is done. */
static int check(const struct settings *settings, const char *path, struct error *err)
{
	const struct exporter *exporter = settings->exporter;

	if (!settings->path && exporter->is_binary && isatty(STDOUT_FILENO))
		return error_set(
			err, -EINVAL,
			"%s is a binary format, which a terminal cannot show: name a file "
			"with -o, or redirect the output",
			exporter->name);
	if (settings->path && is_same_file(settings->path, path))
		return error_set(err, -EINVAL, "%s is the recording itself: name another file",
				 settings->path);
	return settings->path ? export_file_check(settings->path, exporter, err) : 0;
}

static int export_recording(const char *path, const struct settings *settings)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct error err;
	int rc = check(settings, path, &err);

	if (rc < 0) {
		say_error(&err);
		return EXIT_CODE_USAGE;
	}
	CLEANUP(profile_freep)
	struct profile *profile = open_profile(path, &settings->open, notes);

	if (!profile)
		return EXIT_CODE_FAILED;
	rc = export_file_write(settings->path, settings->exporter, profile, &err);
	if (rc < 0 && (rc != -EPIPE || settings->path)) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	say_notes(notes);
	return EXIT_CODE_OK;
}

static int run(const struct command *command, char **arguments)
{
	CLEANUP(text_done) struct text formats = { 0 };
	struct settings settings = { 0 };
	struct error err;
	const char *path;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse_recording(command, arguments, &settings, &path, &exit_code))
		return exit_code;
	if (!settings.exporter && settings.path)
		settings.exporter = export_file_format(settings.path);
	settings.open.has_time_slots = settings.exporter && settings.exporter->has_time_slots;
	if (settings.exporter)
		return export_recording(path, &settings);
	if (settings.path && export_file_refuse_picture(settings.path, &err) < 0) {
		say("export: %s", err.text);
		return EXIT_CODE_USAGE;
	}
	add_formats(&formats);
	say("export: it needs --format with one of %s", text_string(&formats));
	return EXIT_CODE_USAGE;
}

const struct command cmd_export = {
	.name = "export",
	.usage = "--format FORMAT [-o OUT] [FILE]",
	.summary = "Writes a recording in the format of another tool",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
