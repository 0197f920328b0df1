/*
 * output - buffers what an exporter writes and remembers the first failure.
 *
 * After a failure everything further is dropped, so an exporter checks once, at
 * the end.  Inside export/ only.
 */
#pragma once
#include <stddef.h>

#include "base/text.h"

struct error;
struct sink;

struct output {
	const struct sink *sink;
	struct error *err;
	struct text buffer;
	int rc; /* of the first failure, else 0 */
};

static inline struct output output_to(const struct sink *sink, struct error *err)
{
	return (struct output){ .sink = sink, .err = err };
}

/* Hands the buffer on when it has grown large.  Call once per record added to it. */
void output_tick(struct output *output);
/* Hands everything on.  Returns the first failure, or 0.  The output is empty then. */
int output_done(struct output *output);

/*
 * Adds a JSON string in quotes: valid UTF-8 (as text_add_utf8() makes it), with `<`, `>` and
 * `&` as \u escapes, so that it is inert inside an HTML script element too.  NULL gives null.
 */
void output_json_string(struct output *output, const char *string);
