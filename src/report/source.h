/*
 * source - reads the lines of a source file, as they were when the program was recorded.
 *
 * A file that has changed since is refused.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct error;

struct source {
	struct text bytes; /* newlines replaced by NULs */
	size_t *lines;     /* offset of each line */
	size_t count;
	bool is_younger; /* it changed while the recording was made */
};

/* When the recording was made, in nanoseconds since 1970; 0: unknown. */
struct source_age {
	uint64_t begin_ns, end_ns;
};

/*
 * The path of the file that an interpreter or a compiler names, which may differ from that name
 * ("<internal:/usr/lib/ruby/x.rb>" is Ruby's for a file that it omits from backtraces); NULL
 * for code without a file ("<string>", "(eval)", "-e"). The caller frees it.
 */
char *source_path(const char *file);
/*
 * Reads the file at path, as named by a recording; line is the last line needed. A negative
 * errno and a sentence if it cannot be the recorded version. Release with source_done().
 */
int source_read(const char *path, uint32_t line, struct source_age age,
		struct source *out_source, struct error *err);
void source_done(struct source *source);
/* The line's text, counted from 1; NULL where there is none. */
const char *source_line(const struct source *source, uint32_t line);
