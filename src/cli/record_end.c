#include "cli/record_end.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/profile.h"
#include "report/report.h"

static void print_top(const char *path, const struct profile *profile,
		      const struct record_end_options *options)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct error err;
	const struct report_options report = {
		.is_summary = true,
		.path = path,
		.width = terminal_width(STDERR_FILENO),
		.has_color = terminal_has_color(STDERR_FILENO, options->color),
	};

	/* Below what the command left on the line, or the ^C that ended it. */
	if (isatty(STDERR_FILENO))
		text_add(&text, "\n");
	if (report_text(profile, &report, &text, &err) < 0) {
		say_error(&err);
		return;
	}
	text_add(&text, "\nRecorded in ");
	text_add_printable(&text, path, strlen(path));
	text_add(&text, ": 'fathom report");
	if (strcmp(path, "profile.fathom") != 0) {
		text_add(&text, " ");
		text_add_printable(&text, path, strlen(path));
	}
	text_add(&text, "' shows more.\n");
	output_write(STDERR_FILENO, "standard error", text.data, text.len, NULL);
}

void record_end(const char *path, const struct record_end_options *options)
{
	CLEANUP(late_names_freep) struct late_names *late = NULL;
	CLEANUP(profile_freep) struct profile *profile = NULL;
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct progress progress = { 0 };
	struct load_options load = { .progress = progress_report,
				     .context = &progress,
				     .was_just_recorded = true,
				     .shows_plumbing = options->shows_plumbing };
	struct error err;
	int rc;

	if (options->is_quiet) {
		load.progress = NULL;
		load.leaves_lines = true;
		rc = load_symbolize(path, &load, notes, &err);
	} else {
		rc = load_recording(path, &load, notes, &profile, &late, &err);
		if (rc == 0)
			late_names_keep(late, path, profile, notes);
	}
	if (rc < 0)
		say("%s: the names of its functions are not looked up yet, the next report "
		    "does "
		    "that: %s",
		    path, err.text);
	else if (profile)
		print_top(path, profile, options);
}
