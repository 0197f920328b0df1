/*
 * diff_limits - parses and checks the limits of fathom diff --fail-if: 'normalize>+20%',
 * 'total>+5%'.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct comparison;
struct error;

enum { DIFF_LIMITS_MAX = 32 };

struct diff_limit {
	const char *text;     /* as given; borrowed */
	const char *name_end; /* the end of the name in text */
	double share;         /* 0.2: 20 % */
};

struct diff_limits {
	struct diff_limit rows[DIFF_LIMITS_MAX];
	size_t count;
	bool is_strict; /* undecided limits fail */
};

/* -EINVAL and a sentence. */
int diff_limits_add(struct diff_limits *limits, const char *text, struct error *err);
/* Prints which limits are exceeded, and which are undecided. Returns the exit code. */
int diff_limits_check(const struct diff_limits *limits, const struct comparison *comparison);
