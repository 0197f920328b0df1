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
#include "cli/nearest.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/say.h"
#include "export/export.h"
#include "export/sink.h"
#include "profile/profile.h"

struct settings {
	const struct exporter *exporter;
	const char *path; /* NULL: standard output */
	struct open_options open;
};

/* "folded, speedscope, …" */
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

	*(const struct exporter **)place = exporter_find(value);
	if (exporter_find(value))
		return 0;
	add_formats(&formats);
	for (size_t i = 0; exporter_at(i); i++)
		nearest_consider(&nearest, value, exporter_at(i)->name);
	if (nearest.word)
		return error_set(err, -EINVAL, "unknown format '%s': did you mean '%s'?", value,
				 nearest.word);
	return error_set(err, -EINVAL, "unknown format '%s': option '--%s' takes one of %s",
			 value, option->name, text_string(&formats));
}

static const struct option options[] = {
	{ "format", 'f', "FORMAT", "folded, speedscope, pprof, flamegraph, pstats or callgrind",
	  set_format, offsetof(struct settings, exporter) },
	{ "output", 'o', "OUT", "write to this file, not to standard output", option_set_string,
	  offsetof(struct settings, path) },
	{ "native", 0, NULL, "an interpreter's own frames, too, where its language's stand",
	  option_set_flag, offsetof(struct settings, open.shows_plumbing) },
	{ "raw", 0, NULL, "times of traced calls as they were measured", option_set_flag,
	  offsetof(struct settings, open.has_raw_times) },
	{ 0 },
};

/* The format whose files are called so, or NULL. */
static const struct exporter *find_by_suffix(const char *path)
{
	for (size_t i = 0; path && exporter_at(i); i++) {
		const char *suffix = exporter_at(i)->suffix;
		size_t len = strlen(path), suffix_len = strlen(suffix);

		if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0)
			return exporter_at(i);
	}
	return NULL;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

/* A program, a source or a recording stands there, and no export that may be made again. */
static bool is_of_others(const char *path)
{
	static const char *const suffixes[] = { ".py",  ".rb",   ".c",  ".h",     ".cc", ".cpp",
						".hpp", ".rs",   ".go", ".js",    ".ts", ".sh",
						".pl",  ".java", ".so", ".fathom" };
	const char *suffix = strrchr(path, '.');
	struct stat there;

	if (stat(path, &there) < 0 || !S_ISREG(there.st_mode) || there.st_size == 0)
		return false;
	for (size_t i = 0; suffix && i < sizeof suffixes / sizeof *suffixes; i++) {
		if (strcmp(suffix, suffixes[i]) == 0)
			return true;
	}
	return (there.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

/* What speaks against these settings, said before the work. */
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
	if (settings->path && is_of_others(settings->path))
		return error_set(
			err, -EINVAL,
			"%s is there and looks like a program, a source or a recording, "
			"not like an export: name another file, or remove it",
			settings->path);
	return 0;
}

static int write_export(const struct settings *settings, const struct profile *profile,
			struct error *err)
{
	struct output output = output_stdout();

	if (settings->path) {
		int rc = output_open(settings->path, &output, err);

		if (rc < 0)
			return rc;
	}
	struct sink sink = output_sink(&output);
	int rc = settings->exporter->write(profile, &sink, err);

	if (rc == 0)
		return output_finish(&output, err);
	output_abandon(&output);
	return rc;
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
	rc = write_export(settings, profile, &err);
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
	const char *path;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse_recording(command, arguments, &settings, &path, &exit_code))
		return exit_code;
	if (!settings.exporter)
		settings.exporter = find_by_suffix(settings.path);
	if (settings.exporter)
		return export_recording(path, &settings);
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
