/*
 * diff_limits - what fathom diff --fail-if says: 'normalize>+20%', 'total>+5%'.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct comparison;
struct error;

enum { DIFF_LIMITS_MAX = 32 };

struct diff_limit {
	const char *text;     /* as it was given; borrowed */
	const char *name_end; /* where the name ends in it */
	double share;         /* 0.2: 20 % */
};

struct diff_limits {
	struct diff_limit rows[DIFF_LIMITS_MAX];
	size_t count;
	bool is_strict; /* what cannot be decided fails */
};

/* -EINVAL and a sentence. */
int diff_limits_add(struct diff_limits *limits, const char *text, struct error *err);
/* Says which of them are passed, and which cannot be decided.  The exit code. */
int diff_limits_check(const struct diff_limits *limits, const struct comparison *comparison);
