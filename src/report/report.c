#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/blame.h"
#include "report/branches.h"
#include "report/head.h"
#include "report/listing.h"
#include "report/rows.h"
#include "report/selection.h"
#include "report/style.h"
#include "report/summary.h"

bool report_sort_parse(const char *name, enum report_sort *out_sort)
{
	/* Including the names that Python's pstats uses. */
	static const struct {
		const char *name;
		enum report_sort sort;
	} names[] = {
		{ "self", REPORT_SORT_SELF },        { "tottime", REPORT_SORT_SELF },
		{ "total", REPORT_SORT_TOTAL },      { "cumtime", REPORT_SORT_TOTAL },
		{ "cumulative", REPORT_SORT_TOTAL }, { "calls", REPORT_SORT_CALLS },
		{ "ncalls", REPORT_SORT_CALLS },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i].name, name) == 0) {
			*out_sort = names[i].sort;
			return true;
		}
	}
	return false;
}

static int add_body(const struct selection *selection, const struct report_options *options,
		    const struct style *style, struct text *out, struct error *err)
{
	if (options->has_blame) {
		blame_add(selection, options, style, out);
		return 0;
	}
	selection_add_base(selection, style, out);
	text_add(out, "\n");
	bool has_branches = options->has_tree || options->callers || options->callees;
	int rc = 0;

	if (has_branches)
		rc = branches_add(selection, options, style, out, err);
	if (rc == 0 && options->lines) {
		text_add(out, has_branches ? "\n" : "");
		rc = listing_add(selection, options, style, out, err);
	} else if (!has_branches) {
		report_table_add(selection, options, style, out);
	}
	return rc;
}

int report_text(const struct profile *profile, const struct report_options *options,
		struct text *out, struct error *err)
{
	if (options->sort == REPORT_SORT_CALLS && !profile_is_trace(profile))
		return error_set(err, -EINVAL,
				 "samples show times, not how often a function was called: "
				 "'fathom trace' counts that");
	if (options->has_extremes && !profile_is_trace(profile))
		return error_set(err, -EINVAL,
				 "samples show times, not how long each call took: 'fathom "
				 "trace' measures that");
	struct style style = { .width = options->width, .has_color = options->has_color };
	CLEANUP(text_done) struct text text = { 0 };
	CLEANUP(selection_done) struct selection selection = { 0 };

	int rc = selection_init(&selection, profile, options, err);
	if (rc < 0)
		return rc;
	if (options->is_summary) {
		summary_add(&selection, options, &style, &text);
	} else {
		head_add_short(&text, &style, profile);
		rc = add_body(&selection, options, &style, &text, err);
	}
	if (rc < 0)
		return rc;
	text_add_bytes(out, text_string(&text), text.len);
	return 0;
}
