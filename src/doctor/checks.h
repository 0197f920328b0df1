/* checks - the results of doctor: one sentence each, with a remedy for each limit. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum check_verdict {
	CHECK_OK,
	CHECK_LIMITED, /* fathom works, with restrictions */
	CHECK_WRONG,   /* fathom does not work here, or gives wrong results */
};

struct check {
	const char *group; /* "machine", "interpreters", "trial": a literal */
	char *name;        /* "system time" */
	enum check_verdict verdict;
	char *text;   /* a sentence without its full stop */
	char *remedy; /* how to lift the limit; NULL: no limit, or no known remedy */
};

struct checks {
	struct check *rows;
	size_t count, capacity;
};

/* Copies the name and the texts. */
void checks_add(struct checks *checks, const char *group, const char *name,
		enum check_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Adds a remedy to the last check. */
void checks_add_remedy(struct checks *checks, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool checks_have_wrong(const struct checks *checks);
/* "ok", "limited", "wrong" */
const char *check_verdict_name(enum check_verdict verdict);
void checks_done(struct checks *checks);
