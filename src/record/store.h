/*
 * store - puts a writer's rows into its database, in whichever thread that is done.
 *
 * store_take() may be called by a thread of its own while the writer makes more rows; nothing
 * but store_rc(), store->failure after that, and store->ticks is read meanwhile.  The first
 * failure ends the recording: what comes after it is passed over.
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
 * Samples for each row of sums, at least: a row of 25 bytes then costs a sample 1.6 bytes, and
 * 2.1 in the last interval, which would otherwise often have none.
 */
#define STORE_INTERVAL_RATIO      16
#define STORE_LAST_INTERVAL_RATIO 12

/* How long a begin and a clean end wait for others to finish, in steps. */
#define STORE_BUSY_STEPS   40
#define STORE_BUSY_STEP_US 50000

/* The interval of sums that is being filled. */
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
	size_t batch_left; /* samples that may yet count their times from that */
	struct store_interval interval;
	uint64_t committed_at_ns, checkpointed_at_ns; /* CLOCK_MONOTONIC */
	/* The file's size, when it was committed last. */
	atomic_ullong bytes;
	/* Entries ROW_TICK that are under way: all but the last can be passed over. */
	atomic_uint ticks;
	/* Released when failure has been written; store_rc() acquires it. */
	atomic_int failure_rc;
	struct error failure;
};

void store_done(struct store *store);
/* 0, or the errno of the failure that ended the recording, whose sentence is store->failure. */
static inline int store_rc(const struct store *store)
{
	return atomic_load_explicit(&store->failure_rc, memory_order_acquire);
}
/* Ends the recording with the sentence for SQLite's code; returns the errno. */
int store_fail(struct store *store, int sqlite_rc);

/* Writes the entries of len bytes: record/row.h.  For queue_start(): context is the store. */
void store_take(void *context, const uint8_t *bytes, size_t len);
/* Commits.  If a reader keeps it from that, has_transaction stays, and it may be tried again. */
void store_commit(struct store *store);
/* Commits the last of it: sums of fewer samples are worth their row now. */
void store_end_interval(struct store *store, uint64_t min_ratio);

/* What store.c and store_samples.c share. */
sqlite3_stmt *store_begin_row(struct store *store, enum recording_table table, int64_t id);
/* values are bound to the columns behind the id. */
void store_row(struct store *store, enum recording_table table, int64_t id,
	       const int64_t *values, int count);
void store_end_row(struct store *store, sqlite3_stmt *statement);
void store_sample(struct store *store, const struct recording_sample *sample, uint32_t how,
		  bool has_usual_weight);
