#include "record/writer_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "record/keys.h"
#include "record/writer_file.h"

#define SECOND_NS           1000000000ull
#define COMMIT_EVERY_NS     SECOND_NS
#define CHECKPOINT_EVERY_NS (5 * SECOND_NS)
/* How long a begin and a clean end wait for others to finish, in steps. */
#define BUSY_STEPS   40
#define BUSY_STEP_US 50000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

int writer_fail(struct recording_writer *writer, int sqlite_rc)
{
	if (writer->failure_rc < 0)
		return writer->failure_rc;
	database_error(&writer->failure, writer->db, sqlite_rc, writer->path,
		       "the recording ends here");
	writer->failure_rc = database_errno(sqlite_rc);
	if (writer->failure_rc == 0)
		writer->failure_rc = -EIO;
	size_t len = strlen(writer->failure.text);

	snprintf(writer->failure.text + len, sizeof writer->failure.text - len,
		 "; what was recorded until then can be read%s",
		 (sqlite_rc & 0xff) == SQLITE_FULL ? "; make room, or record to another disk"
						   : "");
	/* A statement that waits for a reset would keep the rollback from its end. */
	for (int i = 0; i < TABLE_COUNT; i++)
		sqlite3_reset(writer->inserts[i]);
	database_exec(writer->db, "ROLLBACK");
	writer->has_transaction = false;
	return writer->failure_rc;
}

/*
 * Another program may have begun to write (or to recover) for a moment.  A commit that it is in
 * the way of is tried again at the next tick; a row has no place yet, so it waits.
 */
int writer_begin(struct recording_writer *writer)
{
	int rc = writer->has_transaction ? SQLITE_OK
					 : database_exec(writer->db, "BEGIN IMMEDIATE");

	for (int i = 0; i < BUSY_STEPS && (rc & 0xff) == SQLITE_BUSY; i++) {
		usleep(BUSY_STEP_US);
		rc = database_exec(writer->db, "BEGIN IMMEDIATE");
	}
	if (rc != SQLITE_OK)
		return writer_fail(writer, rc);
	writer->has_transaction = true;
	return 0;
}

int writer_run(struct recording_writer *writer, const char *sql)
{
	if (writer->failure_rc < 0 || writer_begin(writer) < 0)
		return writer->failure_rc;
	int rc = database_exec(writer->db, sql);

	return rc == SQLITE_OK ? 0 : writer_fail(writer, rc);
}

/* A reader may keep a rollback journal from being committed: then the next tick tries again. */
int recording_writer_commit(struct recording_writer *writer)
{
	int rc = writer_flush_samples(writer);

	if (rc == 0)
		rc = writer_end_interval(writer, WRITER_INTERVAL_RATIO);
	if (rc < 0 || !writer->has_transaction)
		return rc;
	int sqlite_rc = database_exec(writer->db, "COMMIT");
	writer->committed_at_ns = now_ns();
	if (sqlite_rc == SQLITE_OK)
		writer->has_transaction = false;
	else if ((sqlite_rc & 0xff) != SQLITE_BUSY)
		return writer_fail(writer, sqlite_rc);
	return 0;
}

/* Never waits for readers: what they keep from being copied is copied five seconds later. */
static int checkpoint(struct recording_writer *writer)
{
	writer->checkpointed_at_ns = now_ns();
	int rc = sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
					   NULL);

	return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0 : writer_fail(writer, rc);
}

int recording_writer_tick(struct recording_writer *writer)
{
	if (writer->failure_rc < 0)
		return writer->failure_rc;
	uint64_t now = now_ns();

	if (writer->is_reopened || now - writer->committed_at_ns < COMMIT_EVERY_NS)
		return 0;
	int rc = recording_writer_commit(writer);

	writer->committed_at_ns = now;
	if (rc == 0 && writer->is_wal &&
	    now - writer->checkpointed_at_ns >= CHECKPOINT_EVERY_NS)
		rc = checkpoint(writer);
	return rc;
}

static uint32_t fact_id(struct recording_writer *writer, const char *key)
{
	uint32_t id = intern_string(&writer->facts, key);

	if (id > writer->last_id[TABLE_FACTS])
		writer->last_id[TABLE_FACTS] = id;
	return id;
}

int recording_writer_set(struct recording_writer *writer, const char *key, const char *value)
{
	struct row row = row_begin(writer, TABLE_FACTS, fact_id(writer, key));

	row_text(&row, key);
	row_text(&row, value);
	return row_end(&row);
}

int recording_writer_set_int(struct recording_writer *writer, const char *key, int64_t value)
{
	struct row row = row_begin(writer, TABLE_FACTS, fact_id(writer, key));

	row_text(&row, key);
	row_figure(&row, value);
	return row_end(&row);
}

int recording_writer_note(struct recording_writer *writer, const char *text)
{
	if (text == NULL)
		return -EINVAL;
	struct row row = row_begin(writer, TABLE_NOTES, ++writer->last_id[TABLE_NOTES]);

	row_text(&row, text);
	return row_end(&row);
}

const char *recording_writer_journal_mode(const struct recording_writer *writer)
{
	return writer->is_wal ? "wal" : "rollback";
}

const char *recording_writer_failure(const struct recording_writer *writer)
{
	return writer->failure_rc < 0 ? writer->failure.text : NULL;
}

static void commit_at_last(struct recording_writer *writer)
{
	writer_flush_samples(writer);
	writer_end_interval(writer, WRITER_LAST_INTERVAL_RATIO);
	if (!writer->is_reopened)
		recording_writer_set_int(writer, KEY_FINISHED, 1);
	for (int i = 0; i < BUSY_STEPS; i++) {
		if (recording_writer_commit(writer) < 0 || !writer->has_transaction)
			return;
		usleep(BUSY_STEP_US);
	}
	writer_fail(writer, SQLITE_BUSY);
}

/* If readers stay, the recording is whole all the same and the last of them tidies up. */
static void leave_one_file(struct recording_writer *writer)
{
	for (int i = 0; i < BUSY_STEPS; i++) {
		if (database_set_journal_mode(writer->db, "DELETE") || writer->failure_rc < 0)
			return;
		usleep(BUSY_STEP_US);
	}
}

int recording_writer_close(struct recording_writer *writer, struct error *err)
{
	if (writer->failure_rc == 0)
		commit_at_last(writer);
	if (writer->is_wal)
		leave_one_file(writer);
	int rc = writer->failure_rc;

	if (rc < 0)
		error_set(err, rc, "%s", writer->failure.text);
	writer_free(writer);
	return rc;
}
