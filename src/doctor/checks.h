/*
 * checks - what doctor found out, one sentence a line, with what would lift a limit.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum check_verdict {
	CHECK_OK,
	CHECK_LIMITED, /* fathom works, with less than it can do */
	CHECK_WRONG,   /* fathom does not work here, or not rightly */
};

struct check {
	const char *group; /* "machine", "interpreters", "trial": a literal */
	char *name;        /* "system time" */
	enum check_verdict verdict;
	char *text;   /* a sentence without its end */
	char *remedy; /* what would lift it; NULL: nothing to lift, or nothing is known */
};

struct checks {
	struct check *rows;
	size_t count, capacity;
};

/* The name and the texts are copied. */
void checks_add(struct checks *checks, const char *group, const char *name,
		enum check_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Of the check that was added last. */
void checks_add_remedy(struct checks *checks, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool checks_have_wrong(const struct checks *checks);
/* "ok", "limited", "wrong" */
const char *check_verdict_name(enum check_verdict verdict);
void checks_done(struct checks *checks);
