/*
 * export - writes a profile in the formats of other tools.
 *
 * One file and one row of the table per format; docs/export.md describes what each contains and
 * lacks. Nothing here opens files or prints: bytes go to the caller's sink.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;
struct sink;

struct exporter {
	const char *name;    /* as for --format */
	const char *suffix;  /* of its files, including the dot */
	const char *summary; /* one line for --help */
	bool has_time_slots; /* it uses profile/time_slots.h */
	bool is_binary;      /* not suitable for a terminal */
	const char *mark;    /* the beginning of its files; NULL: lines of stacks */
	/* 0, or a negative errno if the sink failed. */
	int (*write)(const struct profile *profile, const struct sink *sink, struct error *err);
};

/* i from 0; NULL after the last. */
const struct exporter *exporter_at(size_t i);
/* Whether a file that begins with these bytes is of that format: then it may be overwritten. */
bool exporter_wrote(const struct exporter *exporter, const char *head, size_t len);
/* NULL if there is no such format. */
const struct exporter *exporter_find(const char *name);
