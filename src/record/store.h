/*
 * store - writes a writer's rows into its database, in any one thread.
 *
 * store_take() may run in a thread of its own while the writer makes more rows; meanwhile
 * others read only store_rc(), store->failure after that, and store->ticks. The first failure
 * ends the recording: later rows are skipped.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/database.h"
#include "record/recording.h"
#include "record/schema.h"
#include "record/sums.h"

/*
 * Samples per row of sums, at least: a row of 25 bytes then costs a sample 1.6 bytes, and 2.1
 * in the last interval, which otherwise would often get no sums.
 */
#define STORE_INTERVAL_RATIO      16
#define STORE_LAST_INTERVAL_RATIO 12

/* How long beginning and closing wait for other processes, in steps. */
#define STORE_BUSY_STEPS   40
#define STORE_BUSY_STEP_US 50000

/* The interval whose sums are being collected. */
struct store_interval {
	struct sums sums;
	int64_t first_sample;
	int64_t from_ns, to_ns;
};

struct store {
	char *path;
	sqlite3 *db;
	bool is_wal;
	bool has_transaction;
	sqlite3_stmt *inserts[TABLE_COUNT];
	int64_t last_sample, last_sum, last_ending, last_interval; /* row ids */
	int64_t batch_base_ns;
	size_t batch_left; /* samples that may still store their times relative to that */
	struct store_interval interval;
	uint64_t committed_at_ns, checkpointed_at_ns; /* CLOCK_MONOTONIC */
	/* The file's size at the last commit. */
	atomic_ullong bytes;
	/* ROW_TICK entries still queued: all but the last can be skipped. */
	atomic_uint ticks;
	/* Stored (release) after failure has been written; store_rc() acquires it. */
	atomic_int failure_rc;
	struct error failure;
};

void store_done(struct store *store);
/* 0, or the errno of the failure that ended the recording, whose sentence is store->failure. */
static inline int store_rc(const struct store *store)
{
	return atomic_load_explicit(&store->failure_rc, memory_order_acquire);
}
/* Ends the recording, with a sentence for SQLite's code; returns the errno. */
int store_fail(struct store *store, int sqlite_rc);

/* Writes the entries in len bytes (record/row.h). For queue_start(): context is the store. */
void store_take(void *context, const uint8_t *bytes, size_t len);
/* Commits. If a reader blocks it, has_transaction stays set, and it may be retried. */
void store_commit(struct store *store);
/*
 * Ends the interval and stores its sums if it has at least min_ratio samples per row of sums.
 */
void store_end_interval(struct store *store, uint64_t min_ratio);

/* Shared by store.c and store_samples.c. */
sqlite3_stmt *store_begin_row(struct store *store, enum recording_table table, int64_t id);
/* values are bound to the columns after the id. */
void store_row(struct store *store, enum recording_table table, int64_t id,
	       const int64_t *values, int count);
void store_end_row(struct store *store, sqlite3_stmt *statement);
void store_sample(struct store *store, const struct recording_sample *sample, uint32_t how,
		  bool has_usual_weight);
