/* writer_row - encodes a row's values as bytes at the end of the writer's chunk. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "record/row.h"

struct recording_writer;

/* One row: begin, one call per column, end. Harmless after a failure. */
struct row {
	struct recording_writer *writer; /* NULL after a failure, which is then in rc */
	int rc;
};

struct row row_begin(struct recording_writer *writer, enum recording_table table, int64_t id);
/* An entry other than a row: enum row_entry. */
struct row row_begin_entry(struct recording_writer *writer, unsigned int entry);
void row_int(struct row *row, int64_t value);
void row_figure(struct row *row, int64_t value);  /* RECORDING_UNKNOWN is NULL */
void row_text(struct row *row, const char *text); /* NULL is NULL */
void row_blob(struct row *row, const void *data, size_t len);
/* 0, or the failure that ended the recording. */
int row_end(struct row *row);
