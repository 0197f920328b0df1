/*
 * report - renders a profile as text for people and as JSON for scripts.
 *
 * Prints nothing: everything is added to a text. The JSON is a contract: docs/report-json.md.
 */
#pragma once
#include <stdbool.h>

#include "report/report_options.h"

struct error;
struct profile;
struct text;

/* Parses "self", "total" or "calls", or pstats's names for these; false: unknown. */
bool report_sort_parse(const char *name, enum report_sort *out_sort);

/*
 * Adds the head, then the table or the trees. -ENOENT or -EINVAL and a sentence if a thread,
 * module or function named in options does not exist; out is untouched then.
 */
int report_text(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err);
/*
 * Adds one JSON object and a newline; fails as report_text() does. Ignores max_rows,
 * min_percent, sort and the options for appearance.
 */
int report_json(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err);
/*
 * Adds what was recorded, how, and how much of it can be trusted. Of the options, only width,
 * has_color and is_accuracy matter.
 */
void report_info_text(const struct profile *profile, const struct report_options *options,
		      struct text *out);
