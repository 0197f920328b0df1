/*
 * record_end - what record does when the command has ended: names, and the top of a report.
 */
#pragma once
#include <stdbool.h>

#include "cli/terminal.h"

struct exporter;

struct record_end_options {
	const char *export_path; /* an export is written there, too; NULL: none */
	const struct exporter *exporter;
	bool is_quiet; /* names only */
	bool asks_no_servers;
	bool shows_plumbing;
	enum color_choice color;
};

/* Failures are reported and end nothing: the exit code is the command's. */
void record_end(const char *path, const struct record_end_options *options);
