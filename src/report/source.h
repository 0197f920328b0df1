/*
 * source - the lines of a source file, as they were when the program was recorded.
 *
 * A file that was changed since says something else: it is refused.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct error;

struct source {
	struct text bytes; /* newlines replaced by NULs */
	size_t *lines;     /* where each begins */
	size_t count;
	bool is_younger; /* it was changed while the recording was made */
};

/* When the recording was made, in nanoseconds since 1970; 0: not known. */
struct source_age {
	uint64_t begin_ns, end_ns;
};

/*
 * The path of the file that an interpreter or a compiler names, for which it may have another
 * name ("<internal:/usr/lib/ruby/x.rb>" is Ruby's that it leaves out of backtraces); NULL for
 * what is no file ("<string>", "(eval)", "-e").  The caller's to free.
 */
char *source_path(const char *file);
/*
 * Reads the file at path, which a recording named; line is the last that is wanted of it.  A
 * negative errno and a sentence when it cannot be what was recorded.  Release with
 * source_done().
 */
int source_read(const char *path, uint32_t line, struct source_age age,
		struct source *out_source, struct error *err);
void source_done(struct source *source);
/* The line's text, counted from 1; NULL where there is none. */
const char *source_line(const struct source *source, uint32_t line);
