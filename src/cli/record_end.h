/* record_end - ends fathom record after the command: symbolizes, exports, prints a summary. */
#pragma once
#include <stdbool.h>

#include "cli/terminal.h"

struct exporter;

struct record_end_options {
	const char *export_path; /* also written; NULL: none */
	const struct exporter *exporter;
	bool is_quiet; /* symbolize only */
	bool asks_no_servers;
	bool shows_plumbing;
	enum color_choice color;
};

/* Failures are reported but do not matter further: the exit code is the command's. */
void record_end(const char *path, const struct record_end_options *options);
