/*
 * unread_lines - modules whose names stand in a recording by their symbol tables, while their
 * lines and inlined calls are still to be read from installed debug files.
 *
 * Where no report follows a recording (record -q), reading these would take most of the look-up.
 * They do not change, as programs do that are built anew, and are found by their build id.  The
 * first report reads them, and stores them instead of the plain names.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

struct module_sources;
struct recording_reader;

/* Zero-initialized is empty. */
struct unread_lines {
	struct table modules; /* by the recording's ids */
};

/* Those of a recording. */
void unread_lines_read(struct unread_lines *unread, struct recording_reader *reader);
void unread_lines_done(struct unread_lines *unread);
bool unread_lines_has(const struct unread_lines *unread, uint32_t module);
/* What to store of modules that were looked up without: the caller's; NULL: there are none. */
char *unread_lines_of(const struct module_sources *sources);
