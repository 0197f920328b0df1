/*
 * export - a profile in the formats of other tools.
 *
 * One file and one row of the table per format; docs/export.md says what each
 * holds and what it drops.  Nothing here opens files or prints: the bytes go to
 * a sink the caller gives.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;
struct sink;

struct exporter {
	const char *name;    /* as --format takes it */
	const char *suffix;  /* of a file that holds it, dot and all */
	const char *summary; /* one line for --help */
	bool has_time_slots; /* it shows them: profile/time_slots.h */
	bool is_binary;      /* not to be written to a terminal */
	const char *mark;    /* that each of its files begins with; NULL: lines of stacks */
	/* 0, or a negative errno when the sink failed. */
	int (*write)(const struct profile *profile, const struct sink *sink, struct error *err);
};

/* i from 0; NULL behind the last. */
const struct exporter *exporter_at(size_t i);
/* Whether a file that begins with these bytes is of that format: it may be made anew. */
bool exporter_wrote(const struct exporter *exporter, const char *head, size_t len);
/* NULL if there is no format of that name. */
const struct exporter *exporter_find(const char *name);
