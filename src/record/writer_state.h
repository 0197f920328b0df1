/*
 * writer_state - what the files of the writer share.  Nobody else includes it.
 */
#pragma once
#include "base/error.h"
#include "base/recent.h"
#include "base/table.h"
#include "record/database.h"
#include "record/schema.h"
#include "record/sums.h"
#include "record/writer.h"

/*
 * Samples for each row of sums, at least: a row of 25 bytes then costs a sample 1.6 bytes, and
 * 2.1 in the last interval, which would otherwise often have none.
 */
#define WRITER_INTERVAL_RATIO      16
#define WRITER_LAST_INTERVAL_RATIO 12

/* Samples wait here for the next commit, or until it is full. */
#define WRITER_BUFFERED_SAMPLES 16384

/*
 * Of how many frames and stacks used lately the writer knows that they are there: two tables of
 * 16 MiB, and two of 32 MiB.  What comes back after it was forgotten gets another row.
 */
#define WRITER_KNOWN_FRAMES (3U << 17)
#define WRITER_KNOWN_STACKS (3U << 18)

/* And of as many bytes of codes' names, twice. */
#define WRITER_KNOWN_CODES_BYTES ((size_t)8 << 20)

/* What is known of codes: their contents, each with its row.  The older is for those that
 * come back, as in base/recent.h. */
struct writer_codes_generation {
	struct intern contents;
	struct table rows; /* by the content's number */
	size_t bytes;
};

struct writer_codes {
	struct writer_codes_generation young, old;
	size_t limit_bytes; /* of one generation */
};

struct writer_process {
	int64_t period_ns;
	int64_t sample_weight_ns; /* what NULL in sample_rows.weight means */
};

/* The interval of sums that is being filled. */
struct writer_interval {
	struct sums sums;
	uint32_t first_sample;
	int64_t from_ns, to_ns;
};

struct recording_writer {
	char *path;
	int lock_fd;
	sqlite3 *db;
	bool is_wal;
	bool is_reopened;
	bool has_transaction;
	sqlite3_stmt *inserts[TABLE_COUNT];
	uint32_t last_id[TABLE_COUNT];
	int failure_rc;
	struct error failure;
	uint64_t committed_at_ns, checkpointed_at_ns; /* CLOCK_MONOTONIC */

	struct intern facts, reasons, sources, functions, modules;
	uint32_t first_function, first_source; /* ids that stood there when it was reopened */
	struct table module_ids;
	struct recent frames, stacks;
	struct writer_codes codes;
	uint64_t *lost; /* by reason's id - 1 */
	size_t lost_count, lost_capacity;
	struct writer_process *processes; /* by id - 1 */
	size_t process_count, process_capacity;
	uint32_t *thread_processes; /* by id - 1 */
	size_t thread_count, thread_capacity;

	struct recording_sample *samples;
	size_t sample_count;
	struct writer_interval interval;
};

/* Ends the recording with the sentence for SQLite's code; returns the errno. */
int writer_fail(struct recording_writer *writer, int sqlite_rc);
/* The table's next id.  They are 32 bits: the recording ends before one is given twice. */
uint32_t writer_next_id(struct recording_writer *writer, enum recording_table table);
void writer_codes_done(struct writer_codes *codes);
/* Begins the transaction unless there is one; waits for another program that writes. */
int writer_begin(struct recording_writer *writer);
/* Runs one statement within the transaction. */
int writer_run(struct recording_writer *writer, const char *sql);
/* Puts the samples that wait into the database. */
int writer_flush_samples(struct recording_writer *writer);
/* Writes the sums of the interval if there are min_ratio samples or more for each of them. */
int writer_end_interval(struct recording_writer *writer, uint64_t min_ratio);

/* One row: begin, one call per column, end.  Harmless after a failure. */
struct row {
	struct recording_writer *writer;
	sqlite3_stmt *statement; /* NULL after a failure */
	int column;
};

struct row row_begin(struct recording_writer *writer, enum recording_table table, int64_t id);
void row_int(struct row *row, int64_t value);
void row_figure(struct row *row, int64_t value);  /* RECORDING_UNKNOWN is NULL */
void row_text(struct row *row, const char *text); /* NULL is NULL */
void row_blob(struct row *row, const void *data, size_t len);
/* 0, or the failure that ended the recording. */
int row_end(struct row *row);
