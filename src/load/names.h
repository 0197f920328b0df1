/*
 * names - the names of a recording's frames: functions, files, lines, inlined calls.
 *
 * Filled from the recording, from a symbolizer, or from the first and then the second.  Ids of
 * frames and modules are the recording's.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct error;
struct recording_reader;
struct recording_writer;

struct named_function {
	uint32_t language;
	uint32_t module;
	const char *name;
	const char *file; /* NULL: unknown */
	uint32_t line;
	const char *plain_name; /* not stored, not part of its identity; or NULL */
};

/* As recording_location, with an index into functions. */
struct named_location {
	uint32_t frame;
	uint32_t depth;
	uint32_t function;
	uint32_t line;
	const char *file;
	uint64_t address;
	bool is_stored; /* the recording has it, and keeps it */
};

/* Zero-initialized is empty. */
struct names {
	struct intern strings;
	struct named_function *functions;
	size_t function_count, function_capacity;
	struct table function_index; /* content to index + 1 */
	struct named_location *locations;
	size_t location_count, location_capacity;
	struct table first_of_frame; /* frame to index + 1, after names_sort() */
	char *unread_lines;          /* unread_lines.h; NULL: all are read */
	bool is_sorted;
};

void names_done(struct names *names);

/* The function's index: the same content gives the same one.  Strings are copied. */
uint32_t names_add_function(struct names *names, const struct named_function *function);
/* Strings are copied. */
void names_add_location(struct names *names, const struct named_location *location);

/* Adds what the recording holds. */
int names_read(struct names *names, struct recording_reader *reader, struct error *err);
/* Writes what the recording does not have yet, and marks it as symbolized. */
int names_store(const struct names *names, struct recording_writer *writer);

/* Replaces the location at index by those from `first` on, which are of the same frame. */
void names_replace_location(struct names *names, size_t index, size_t first);

/*
 * Sorts the locations for names_of_frame(), which finds nothing before that, nor after an
 * addition.
 */
void names_sort(struct names *names);
/* The locations of a frame, innermost first, and their count; NULL and 0 if it has none. */
const struct named_location *names_of_frame(const struct names *names, uint32_t frame,
					    size_t *out_count);
