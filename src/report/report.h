/*
 * report - a profile as text for people and as JSON for scripts.
 *
 * Prints nothing: everything is added to a text.  The JSON is a contract:
 * docs/report-json.md.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/group.h"

struct error;
struct profile;
struct text;

enum report_sort { REPORT_SORT_SELF, REPORT_SORT_TOTAL, REPORT_SORT_CALLS };

struct report_options {
	enum group_by by; /* which rows the table has */
	enum report_sort sort;
	bool has_sort;               /* it was asked for */
	const char *thread, *module; /* only this part of the profile: profile/filter.h */
	bool has_extremes; /* of a trace: the shortest and the longest call in the table */
	bool has_tree;     /* the call tree; each of these four replaces the table */
	const char *callers, *callees; /* of this function, as profile/find.h understands it */
	const char *lines;             /* of this function, in its source */
	bool has_min_percent;          /* else 0 in tables, 0.5 in trees */
	double min_percent; /* rows below are not shown; in trees by total, else as sorted */
	size_t max_rows;    /* 0: 30 in tables, 60 in trees */
	unsigned int width; /* of the terminal in columns: longer names are cut; 0: none is */
	bool has_color;
	bool is_brief; /* the head in a few lines, as at the end of a recording */
};

#define REPORT_ALL_ROWS SIZE_MAX

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
 * What was recorded, how, and how much of it can be trusted.  Of the options, only width and
 * has_color matter.
 */
void report_info_text(const struct profile *profile, const struct report_options *options,
		      struct text *out);
