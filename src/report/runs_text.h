/*
 * runs_text - what is said of runs of one command, or of two in turn: docs/diff.md.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct style;
struct text;

struct runs_side {
	const char *title;          /* "before"; NULL: there is one command only */
	const char *const *command; /* NULL-terminated */
	const char *const *paths;   /* of the recordings */
	const double *total_ns, *elapsed_ns;
	size_t count;
	double warm_up_ns; /* total of the run that is not counted */
};

struct runs_shown {
	struct runs_side sides[2];
	size_t side_count; /* 1 or 2 */
	size_t most;       /* runs a side that were asked for */
	bool is_clear;     /* it ended before them, for the verdict is clear */
	double margin;
};

/* What was run, and how often: in front of the comparison, or of the two figures of one command. */
void runs_add_head(const struct runs_shown *runs, const struct style *style, struct text *out);
/* The elapsed time, what was unlike the other runs, and what to type next. */
void runs_add_end(const struct runs_shown *runs, const struct style *style, struct text *out);
