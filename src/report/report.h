/*
 * report - a profile as text for people and as JSON for scripts.
 *
 * Prints nothing: everything is added to a text.  The JSON is a contract:
 * docs/report-json.md.
 */
#pragma once
#include <stdbool.h>

#include "report/report_options.h"

struct error;
struct profile;
struct text;

/* "self", "total" or "calls", or what pstats calls these, in *out_sort; else false. */
bool report_sort_parse(const char *name, enum report_sort *out_sort);

/*
 * The head, then the table or the trees.  -ENOENT or -EINVAL and a sentence for the name of a
 * thread, a module or a function that means nothing here; out is untouched then.
 */
int report_text(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err);
/*
 * One JSON object and a newline; fails as report_text() does.  max_rows, min_percent, sort and
 * what is for eyes are ignored.
 */
int report_json(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err);
/*
 * What was recorded, how, and how much of it can be trusted.  Of the options, only width,
 * has_color and is_accuracy matter.
 */
void report_info_text(const struct profile *profile, const struct report_options *options,
		      struct text *out);
