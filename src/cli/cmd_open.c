/* fathom open: shows a recording as a page in the browser. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/browser.h"
#include "cli/command.h"
#include "cli/export_file.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/say.h"
#include "export/export.h"
#include "profile/profile.h"

struct settings {
	const char *path; /* NULL: next to the recording */
	bool has_no_browser;
	struct open_options open;
};

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{ "output", 'o', "OUT", "the page; beside the recording by default, as FILE.html",
	  option_set_string, AT(path) },
	{ "no-browser", 0, NULL, "write the page and say where it is", option_set_flag,
	  AT(has_no_browser) },
	{ "process", 0, "PROCESS", "only this process: its pid or its name", option_set_string,
	  AT(open.part.process) },
	{ "thread", 0, "THREAD", "only this thread: its id or its name", option_set_string,
	  AT(open.part.thread) },
	{ "module", 0, "MODULE", "only time in this program or library", option_set_string,
	  AT(open.part.module) },
	{ "package", 0, "PACKAGE", "only time in this package; own: in your own code",
	  option_set_string, AT(open.part.package) },
	{ "own", 0, "PART,…",
	  "what is your own code: files and modules with PART in their path", option_set_string,
	  AT(open.own) },
	{ "no-debuginfod", 0, NULL, "ask no server for debug files", option_set_flag,
	  AT(open.asks_no_servers) },
	{ "native", 0, NULL, "an interpreter's own frames, too, where its language's stand",
	  option_set_flag, AT(open.shows_plumbing) },
	{ "raw", 0, NULL, "times of traced calls as they were measured", option_set_flag,
	  AT(open.has_raw_times) },
	{ 0 },
};
#undef AT

/* "runs/a.html" for "runs/a.fathom". */
static char *path_beside(const char *recording)
{
	const size_t len = strlen(recording), suffix = strlen(".fathom");
	const bool has_suffix =
		len > suffix && strcmp(recording + len - suffix, ".fathom") == 0;

	return xasprintf("%.*s.html", (int)(has_suffix ? len - suffix : len), recording);
}

/* The path of a temporary file, for when the recording's folder is not writable; or NULL. */
static char *path_elsewhere(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	char *path = xasprintf("%s/fathom-XXXXXX.html", folder && *folder ? folder : "/tmp");
	const int fd = mkstemps(path, (int)strlen(".html"));

	if (fd >= 0) {
		close(fd);
		return path;
	}
	error_errno(err, -errno, "cannot make a page in %s", path);
	free(path);
	return NULL;
}

static bool is_refusal(int rc)
{
	return rc == -EACCES || rc == -EROFS || rc == -EPERM;
}

/*
 * The page's path according to settings, checked before the work; NULL, with the reason
 * printed, if there is none.
 */
static char *choose_path(const char *recording, const struct settings *settings)
{
	char *path = settings->path ? xstrdup(settings->path) : path_beside(recording);
	struct error err;

	if (export_file_check(path, exporter_find("flamegraph"), &err) == 0)
		return path;
	say("open: %s (-o names another)", err.text);
	free(path);
	return NULL;
}

/* Writes the page, if need be to a temporary file; *path is updated. */
static int write_page(char **path, const struct settings *settings,
		      const struct profile *profile, struct error *err)
{
	const struct exporter *exporter = exporter_find("flamegraph");
	int rc = export_file_write(*path, exporter, profile, err);

	if (settings->path || !is_refusal(rc))
		return rc;
	char *other = path_elsewhere(err);

	if (!other)
		return rc;
	free(*path);
	*path = other;
	return export_file_write(other, exporter, profile, err);
}

static void add_printable(struct text *out, const char *before, const char *path,
			  const char *after)
{
	text_add(out, before);
	text_add_printable(out, path, strlen(path));
	text_add(out, after);
}

/* Prints the path on a line of its own, so that terminals make it a link. */
static int show(const char *path, bool has_no_browser)
{
	CLEANUP(freep) char *whole = realpath(path, NULL);
	struct text out = { 0 };
	const enum browser_result result =
		has_no_browser ? BROWSER_STARTED : browser_open(whole ? whole : path);

	add_printable(&out, "file://", whole ? whole : path, "\n");
	if (command_print(&out) != EXIT_CODE_OK)
		return EXIT_CODE_FAILED;
	if (result == BROWSER_NO_DISPLAY)
		say("there is no display here: copy that file to where your browser is; it "
		    "is whole by itself");
	else if (result == BROWSER_NONE)
		say("there is no program that opens it (xdg-open, or what BROWSER names)");
	else if (result == BROWSER_FAILED)
		say("the program that opens it failed; any browser shows that file");
	return EXIT_CODE_OK;
}

static int open_page(const char *recording, const struct settings *settings)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(freep) char *path = choose_path(recording, settings);
	struct error err;

	if (!path)
		return EXIT_CODE_USAGE;
	CLEANUP(profile_freep)
	struct profile *profile = open_profile(recording, &settings->open, notes);

	if (!profile)
		return EXIT_CODE_FAILED;
	if (write_page(&path, settings, profile, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	say_notes(notes);
	return show(path, settings->has_no_browser);
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { .open.has_time_slots = true };
	const char *recording;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse_recording(command, arguments, &settings, &recording, &exit_code))
		return exit_code;
	return open_page(recording, &settings);
}

const struct command cmd_open = {
	.name = "open",
	.usage = "[OPTION…] [FILE]",
	.summary = "Shows a recording as a page in the browser",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
