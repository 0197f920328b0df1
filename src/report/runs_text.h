/*
 * runs_text - prints the results of repeated runs of one command, or of two alternating ones:
 * docs/diff.md.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct style;
struct text;

struct runs_side {
	const char *title;          /* "before"; NULL: there is only one command */
	const char *const *command; /* NULL-terminated */
	const char *const *paths;   /* of the recordings */
	const double *total_ns, *elapsed_ns;
	size_t count;
	double warm_up_ns; /* total of the warm-up run, which is not counted */
};

struct runs_shown {
	struct runs_side sides[2];
	size_t side_count; /* 1 or 2 */
	size_t most;       /* requested runs a side */
	bool is_clear;     /* stopped before that, because the verdict is clear */
	double margin;
};

/*
 * Adds what was run, and how often: before the comparison, or before one command's two figures.
 */
void runs_add_head(const struct runs_shown *runs, const struct style *style, struct text *out);
/* Adds the elapsed time, outliers among the runs, and suggested commands. */
void runs_add_end(const struct runs_shown *runs, const struct style *style, struct text *out);
