/*
 * compared - prints what became slower, as text for people and as JSON for scripts:
 * docs/diff.md.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "profile/groups.h"

struct change;
struct comparison;
struct style;
struct text;

struct compared_options {
	enum group_by by;
	const char *const *paths[2]; /* of the recordings, before and after */
	size_t max_rows;             /* 0: five rows that changed; REPORT_ALL_ROWS: every row */
	unsigned int width;          /* of the terminal; 0: nothing is cut */
	bool has_color;
};

void compared_add_text(const struct comparison *comparison,
		       const struct compared_options *options, struct text *out);
/* Adds the line of a total: "total 307.9 ms → 323.6 ms +5.1 % ±2.0 slower". */
void compared_add_change(const char *title, const struct change *change, bool is_over_runs,
			 const struct style *style, struct text *out);
void compared_add_json(const struct comparison *comparison,
		       const struct compared_options *options, struct text *out);
