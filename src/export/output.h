/*
 * output - buffers an exporter's output and keeps the first failure.
 *
 * After a failure all further output is dropped, so an exporter checks once, at the end. Inside
 * export/ only.
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

/* Writes the buffer to the sink once it is large. Call once per record. */
void output_tick(struct output *output);
/* Writes the rest. Returns the first failure, or 0. The output is empty then. */
int output_done(struct output *output);

/*
 * Adds a JSON string in quotes: valid UTF-8 (as text_add_utf8() makes it), with `<`, `>` and
 * `&` as \u escapes, so that it is inert inside an HTML script element too.  NULL gives null.
 */
void output_json_string(struct output *output, const char *string);
