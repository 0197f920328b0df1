/* reader_state - state shared by the files of the reader. No other file includes it. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "record/database.h"
#include "record/probe.h"
#include "record/schema.h"
#include "record/sums.h"

struct reader_fact {
	const char *key;
	const char *text; /* NULL: the value is NULL */
	int64_t number;   /* RECORDING_UNKNOWN: the value is text */
};

struct recording_reader {
	struct probe probe;
	sqlite3 *db;
	int schema_version;
	uint64_t counts[TABLE_COUNT]; /* the highest id; sample_rows' also limits batches */
	bool is_finished;
	bool is_journal_missing;

	struct arena arena;
	struct reader_fact *facts;
	size_t fact_count, fact_capacity;
	const char **sources; /* by id - 1, loaded when first needed */
	int64_t *weights;     /* what NULL means for each thread, by id - 1; likewise */
	bool has_totals;
	struct sums totals; /* of all samples; likewise */
};

/* A loop over a table's rows, in order of id, without gaps. */
struct scan {
	struct recording_reader *reader;
	enum recording_table table;
	sqlite3_stmt *statement; /* NULL: the recording's version has no such table */
	uint64_t id;             /* of the current row */
	const char *damage;      /* what is wrong with the current row, or NULL */
	struct error *err;
};

/* Begins at first_id. The caller ends the scan, whatever the result: scan_end(). */
int scan_begin(struct scan *scan, struct recording_reader *reader, enum recording_table table,
	       uint64_t first_id, struct error *err);
/*
 * Whether there is another row. False at once if *rc is not 0; if the table cannot be read,
 * with a negative errno in *rc and a sentence.
 */
bool scan_next(struct scan *scan, int *rc);
/* Returns rc. */
int scan_end(struct scan *scan, int rc);

/* Records what is wrong with the current row, unless something already was: "has no name". */
void scan_damage(struct scan *scan, const char *what);
/* Values of the current row; columns count from 1. Impossible values are damage. */
int64_t scan_figure(struct scan *scan, int column); /* NULL is RECORDING_UNKNOWN */
uint64_t scan_u64(struct scan *scan, int column);
uint32_t scan_u32(struct scan *scan, int column);
/* An id of a sample, or 0. */
uint64_t scan_sample_id(struct scan *scan, int column);
/* An id of that table, which has no wide ids, or 0. */
uint32_t scan_id(struct scan *scan, int column, enum recording_table table);
const char *scan_text(struct scan *scan, int column); /* NULL is NULL */
/* Whether the current row is sound; if not, *rc is -EBADMSG, with a sentence. */
bool scan_check(struct scan *scan, int *rc);

/* Loads what NULL means in sample_rows.weight. */
int reader_load_weights(struct recording_reader *reader, struct error *err);
/* Visits sample rows first to last. */
int reader_each_sample_of(struct recording_reader *reader, uint64_t first, uint64_t last,
			  int (*visit)(void *context, const struct recording_sample *row),
			  void *context, struct error *err);
