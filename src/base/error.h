/*
 * error - a failure as one sentence.
 *
 * A function that can fail returns 0 or a negative errno; on failure it stores in its `struct
 * error` what could not be done, to what, why and how to get further. Each layer may put its
 * context in front (error_wrap). Not a log: only cli/ prints.
 */
#pragma once

struct error {
	char text[1024];
};

/* Sets the sentence.  Returns rc, so that a failure is one expression. err may be NULL. */
int error_set(struct error *err, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts a context and ": " before the existing sentence. Returns rc. */
int error_wrap(struct error *err, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Like error_set(), followed by ": " and the text of -rc. */
int error_errno(struct error *err, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
