#include "cli/record_end.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/debian_package.h"
#include "cli/export_file.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "export/export.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/profile.h"
#include "report/report.h"

static void write_export(const struct profile *profile,
			 const struct record_end_options *options)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct error err;

	if (export_file_write(options->export_path, options->exporter, profile, &err) < 0) {
		say("cannot write %s: %s (the recording is whole)", options->export_path,
		    err.text);
		return;
	}
	if (options->is_quiet)
		return;
	text_addf(&text, "Exported as %s to ", options->exporter->name);
	text_add_printable(&text, options->export_path, strlen(options->export_path));
	text_add(&text, ".\n");
	output_write(STDERR_FILENO, "standard error", text.data, text.len, NULL);
}

static void print_top(const char *path, const struct profile *profile,
		      const struct record_end_options *options)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct error err;
	const struct report_options report = {
		.is_summary = true,
		.package_of = debian_package_of,
		.path = path,
		.width = terminal_width(STDERR_FILENO),
		.height = terminal_height(STDERR_FILENO),
		.is_after_recording = true,
		.has_color = terminal_has_color(STDERR_FILENO, options->color),
	};

	/* The command, or the ^C that ended it, may have left text on the line. */
	if (isatty(STDERR_FILENO))
		text_add(&text, "\n");
	if (report_text(profile, &report, &text, &err) < 0) {
		say_error(&err);
		return;
	}
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
				     .asks_no_servers = options->asks_no_servers,
				     .has_time_slots = options->exporter &&
						       options->exporter->has_time_slots,
				     .shows_plumbing = options->shows_plumbing };
	struct error err;
	int rc;

	if (options->is_quiet)
		load.progress = NULL;
	if (options->is_quiet && !options->exporter) {
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
	if (profile && !options->is_quiet)
		print_top(path, profile, options);
	if (profile && options->exporter)
		write_export(profile, options);
}
