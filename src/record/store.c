#include "record/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "record/row.h"

#define SECOND_NS           1000000000ull
#define COMMIT_EVERY_NS     SECOND_NS
#define CHECKPOINT_EVERY_NS (5 * SECOND_NS)

void store_done(struct store *store)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		sqlite3_finalize(store->inserts[i]);
	sqlite3_close(store->db);
	sums_done(&store->interval.sums);
}

int store_fail(struct store *store, int sqlite_rc)
{
	int rc = store_rc(store);

	if (rc < 0)
		return rc;
	database_error(&store->failure, store->db, sqlite_rc, store->path,
		       "the recording ends here");
	rc = database_errno(sqlite_rc);
	if (rc == 0)
		rc = -EIO;
	const size_t len = strlen(store->failure.text);

	snprintf(store->failure.text + len, sizeof store->failure.text - len,
		 "; what was recorded until then can be read%s",
		 (sqlite_rc & 0xff) == SQLITE_FULL ? "; make room, or record to another disk"
						   : "");
	/* A statement that was not reset would keep the rollback from completing. */
	for (int i = 0; i < TABLE_COUNT; i++)
		sqlite3_reset(store->inserts[i]);
	database_exec(store->db, "ROLLBACK");
	store->has_transaction = false;
	/* Pairs with the acquire in store_rc(). */
	atomic_store_explicit(&store->failure_rc, rc, memory_order_release);
	return rc;
}

/*
 * Another program may be writing (or recovering) for a moment. A blocked commit is retried at
 * the next tick; a row cannot be stored without a transaction, so this waits.
 */
static bool store_begin(struct store *store)
{
	if (store_rc(store) < 0 || store->has_transaction)
		return store_rc(store) == 0;
	int rc = database_exec(store->db, "BEGIN IMMEDIATE");

	for (int i = 0; i < STORE_BUSY_STEPS && (rc & 0xff) == SQLITE_BUSY; i++) {
		usleep(STORE_BUSY_STEP_US);
		rc = database_exec(store->db, "BEGIN IMMEDIATE");
	}
	if (rc != SQLITE_OK)
		store_fail(store, rc);
	store->has_transaction = rc == SQLITE_OK;
	return store->has_transaction;
}

/* Rows that may be rewritten use REPLACE; samples and sums never are, and INSERT is faster. */
static int prepare(struct store *store, enum recording_table table)
{
	const bool is_written_once = table == TABLE_SAMPLE_ROWS || table == TABLE_SUMS;
	CLEANUP(freep)
	char *sql = schema_insert_sql(table, is_written_once ? "INSERT" : "REPLACE");
	const int rc = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
					  &store->inserts[table], NULL);

	return rc == SQLITE_OK ? 0 : store_fail(store, rc);
}

sqlite3_stmt *store_begin_row(struct store *store, enum recording_table table, int64_t id)
{
	if (!store_begin(store) || (store->inserts[table] == NULL && prepare(store, table) < 0))
		return NULL;
	sqlite3_bind_int64(store->inserts[table], 1, id);
	return store->inserts[table];
}

void store_end_row(struct store *store, sqlite3_stmt *statement)
{
	const int rc = sqlite3_step(statement);

	sqlite3_reset(statement);
	if (rc != SQLITE_DONE)
		store_fail(store, rc);
}

void store_row(struct store *store, enum recording_table table, int64_t id,
	       const int64_t *values, int count)
{
	sqlite3_stmt *statement = store_begin_row(store, table, id);

	if (statement == NULL)
		return;
	for (int i = 0; i < count; i++) {
		if (values[i] == RECORDING_UNKNOWN)
			sqlite3_bind_null(statement, i + 2);
		else
			sqlite3_bind_int64(statement, i + 2, values[i]);
	}
	store_end_row(store, statement);
}

/* A reader may block a commit in rollback-journal mode: then the next tick tries again. */
void store_commit(struct store *store)
{
	store_end_interval(store, STORE_INTERVAL_RATIO);
	store->batch_left = 0;
	if (store_rc(store) < 0 || !store->has_transaction)
		return;
	const int rc = database_exec(store->db, "COMMIT");

	store->committed_at_ns = monotonic_ns();
	if (rc == SQLITE_OK) {
		store->has_transaction = false;
		atomic_store_explicit(&store->bytes,
				      (unsigned long long)database_get_int(
					      store->db, "PRAGMA page_count", 0) *
					      RECORDING_PAGE_SIZE,
				      memory_order_relaxed);
	} else if ((rc & 0xff) != SQLITE_BUSY) {
		store_fail(store, rc);
	}
}

/*
 * Never waits for readers: pages that they keep from being copied are copied five seconds
 * later.
 */
static void store_checkpoint(struct store *store)
{
	store->checkpointed_at_ns = monotonic_ns();
	const int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
						 NULL, NULL);

	if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
		store_fail(store, rc);
}

/* On a slow disk, one commit serves all the seconds that passed meanwhile. */
static void store_tick(struct store *store)
{
	const bool is_last =
		atomic_fetch_sub_explicit(&store->ticks, 1, memory_order_relaxed) == 1;

	if (!is_last && monotonic_ns() - store->committed_at_ns < COMMIT_EVERY_NS)
		return;
	store_commit(store);
	if (store->is_wal && store_rc(store) == 0 &&
	    monotonic_ns() - store->checkpointed_at_ns >= CHECKPOINT_EVERY_NS)
		store_checkpoint(store);
}

static bool is_utf8(const char *bytes, size_t len)
{
	struct text escaped = { 0 };

	text_add_utf8(&escaped, bytes, len);
	const bool is_same = escaped.len == len;

	text_done(&escaped);
	return is_same;
}

/* Bound values live as long as the entry's bytes. */
static const uint8_t *bind(sqlite3_stmt *statement, int column, const uint8_t *at)
{
	const uint8_t kind = *at++;

	if (kind <= ROW_INT_MAX) {
		sqlite3_bind_int64(statement, column, row_get_int(at, kind));
		return at + kind;
	}
	if (kind == ROW_NULL) {
		sqlite3_bind_null(statement, column);
		return at;
	}
	const uint64_t len = (uint64_t)row_take_int(&at);

	if (kind == ROW_TEXT && is_utf8((const char *)at, len))
		sqlite3_bind_text64(statement, column, (const char *)at, len, SQLITE_STATIC,
				    SQLITE_UTF8);
	else
		sqlite3_bind_blob64(statement, column, at, len, SQLITE_STATIC);
	return at + len;
}

/* NULL after a failure. */
static const uint8_t *take_row(struct store *store, enum recording_table table,
			       const uint8_t *at)
{
	sqlite3_stmt *statement = store_begin_row(store, table, row_take_int(&at));

	if (statement == NULL)
		return NULL;
	for (int i = 0; i < schema_column_count(table); i++)
		at = bind(statement, i + 2, at);
	store_end_row(store, statement);
	return at;
}

static const uint8_t *take_sample(struct store *store, const uint8_t *at)
{
	struct recording_sample sample = { .time_ns = row_take_int(&at) };

	sample.thread = (uint32_t)row_take_int(&at);
	sample.stack = (uint32_t)row_take_int(&at);
	const uint32_t how = (uint32_t)row_take_int(&at);

	sample.state = how % RECORDING_STATES;
	sample.ending = how / RECORDING_STATES;
	sample.weight_ns = row_take_int(&at);
	const bool has_usual_weight = row_take_int(&at) != 0;

	store_sample(store, &sample, how, has_usual_weight);
	return at;
}

static const uint8_t *take_sql(struct store *store, const uint8_t *at)
{
	at++; /* ROW_TEXT */
	const size_t len = (size_t)row_take_int(&at);
	CLEANUP(freep) char *sql = xstrndup((const char *)at, len);
	const int rc = store_begin(store) ? database_exec(store->db, sql) : SQLITE_OK;

	if (rc != SQLITE_OK)
		store_fail(store, rc);
	return at + len;
}

void store_take(void *context, const uint8_t *bytes, size_t len)
{
	struct store *store = context;
	const uint8_t *at = bytes;

	while (store_rc(store) == 0 && at < bytes + len) {
		const unsigned int entry = *at++;

		if (entry < TABLE_COUNT)
			at = take_row(store, (enum recording_table)entry, at);
		else if (entry == ROW_SAMPLE)
			at = take_sample(store, at);
		else if (entry == ROW_SQL)
			at = take_sql(store, at);
		else if (entry == ROW_TICK)
			store_tick(store);
		else
			store_commit(store);
	}
}
