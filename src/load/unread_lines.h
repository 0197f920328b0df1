/*
 * unread_lines - lists the modules that a recording names by their symbol tables only, since
 * their lines and inlined calls are still to be read from installed debug files.
 *
 * If no report follows a recording (record -q), reading debug files would take most of the
 * look-up.  They do not change, as programs do that are built anew, and are found by build id,
 * so the first report reads them, and stores the result instead of the plain names.
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

/* Reads the list of a recording. */
void unread_lines_read(struct unread_lines *unread, struct recording_reader *reader);
void unread_lines_done(struct unread_lines *unread);
bool unread_lines_has(const struct unread_lines *unread, uint32_t module);
/* The list to store, of modules that were looked up without lines: the caller's; NULL: none. */
char *unread_lines_of(const struct module_sources *sources);
