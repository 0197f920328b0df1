/*
 * Opens a recording in any state: finished, being written, left by a killed recorder, on
 * read-only media, or without its journal.
 */
#include "record/reader_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/keys.h"
#include "record/reader.h"
#include "record/schema_check.h"

/* How long to wait while a recorder commits in rollback-journal mode. */
#define BUSY_TIMEOUT_MS 5000

/* How SQLite opens the file. */
struct approach {
	int flags;
	const char *parameters;
	bool is_exclusive; /* keeps the journal's index in memory, not in NAME-shm */
	bool is_copied;    /* into memory, so that no lock delays the recorder */
};

static struct approach choose_approach(const struct probe *probe)
{
	if (probe->is_locked)
		return (struct approach){ .flags = SQLITE_OPEN_READONLY,
					  .is_copied = !probe->header.is_wal };
	if (probe->header.is_wal && !probe->has_wal)
		return (struct approach){ .flags = SQLITE_OPEN_READONLY,
					  .parameters = "immutable=1" };
	if (probe->has_wal && probe->is_writable)
		return (struct approach){ .flags = SQLITE_OPEN_READWRITE,
					  .is_exclusive = true };
	/* The VFS without locks: exclusive ones need a writable file. */
	if (probe->has_wal)
		return (struct approach){ .flags = SQLITE_OPEN_READONLY,
					  .parameters = "vfs=unix-none",
					  .is_exclusive = true };
	return (struct approach){ .flags = SQLITE_OPEN_READONLY };
}

static int refuse(struct recording_reader *reader, int sqlite_rc, struct error *err)
{
	const struct probe *probe = &reader->probe;

	if (!probe->is_locked && (probe->has_wal || probe->has_rollback) &&
	    database_errno(sqlite_rc) != -EBADMSG)
		return error_set(
			err, -EROFS,
			"%s: cannot be read where it is: a part of it is still in %s%s; "
			"copy both into one folder that can be written, and read it there",
			probe->path, probe->path,
			probe->has_wal ? JOURNAL_WAL : JOURNAL_ROLLBACK);
	return database_error(err, reader->db, sqlite_rc, probe->path, "cannot be read");
}

/*
 * Copies page by page; the recorder's next commit waits for it, milliseconds for a usual
 * recording.
 */
static int copy_to_memory(struct recording_reader *reader, struct error *err)
{
	sqlite3 *copy = NULL;
	int rc = database_open_memory(&copy, err);

	if (rc < 0)
		return rc;
	sqlite3_backup *backup = sqlite3_backup_init(copy, "main", reader->db, "main");
	int sqlite_rc = SQLITE_BUSY;

	for (int i = 0; i < 50 && (sqlite_rc & 0xff) == SQLITE_BUSY && backup != NULL; i++) {
		sqlite_rc = sqlite3_backup_step(backup, -1);
		if ((sqlite_rc & 0xff) == SQLITE_BUSY)
			sqlite3_sleep(100);
	}
	sqlite3_backup_finish(backup);
	sqlite3_close(reader->db);
	reader->db = copy;
	return sqlite_rc == SQLITE_DONE ? 0 : refuse(reader, sqlite_rc, err);
}

static int open_database(struct recording_reader *reader, struct error *err)
{
	struct approach approach = choose_approach(&reader->probe);
	int rc = database_open(reader->probe.path, approach.flags, approach.parameters,
			       &reader->db, err);

	if (rc < 0)
		return rc;
	sqlite3_busy_timeout(reader->db, BUSY_TIMEOUT_MS);
	if (approach.is_exclusive)
		database_exec(reader->db, "PRAGMA locking_mode=EXCLUSIVE");
	if (approach.is_copied)
		rc = copy_to_memory(reader, err);
	if (rc < 0)
		return rc;
	/* One transaction, so that all loops see the same state of the recording. */
	int sqlite_rc = database_exec(reader->db, "PRAGMA query_only=ON; BEGIN; "
						  "SELECT 1 FROM main.sqlite_schema LIMIT 1");
	return sqlite_rc == SQLITE_OK ? 0 : refuse(reader, sqlite_rc, err);
}

static int load_counts(struct recording_reader *reader, struct error *err)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		if (!schema_has_table((enum recording_table)i, reader->schema_version))
			continue;
		CLEANUP(freep)
		char *sql = xasprintf("SELECT coalesce(max(id), 0) FROM main.%s NOT INDEXED",
				      schema_table_name((enum recording_table)i));
		int64_t count = database_get_int(reader->db, sql, -1);

		if (count < 0 ||
		    (count > UINT32_MAX && !schema_has_wide_ids((enum recording_table)i)))
			return error_set(
				err, -EBADMSG,
				"%s: damaged: the rows of %s cannot be counted; copy it "
				"again from where it was recorded",
				reader->probe.path, schema_table_name((enum recording_table)i));
		reader->counts[i] = (uint64_t)count;
	}
	return 0;
}

static void add_fact(struct recording_reader *reader, struct scan *scan)
{
	const char *key = scan_text(scan, 1), *text = scan_text(scan, 2);
	struct reader_fact fact = { .number = RECORDING_UNKNOWN };

	if (key == NULL) {
		scan_damage(scan, "has no key");
		return;
	}
	fact.key = arena_strndup(&reader->arena, key, strlen(key));
	if (text != NULL)
		fact.text = arena_strndup(&reader->arena, text, strlen(text));
	if (sqlite3_column_type(scan->statement, 2) == SQLITE_INTEGER)
		fact.number = sqlite3_column_int64(scan->statement, 2);
	reader->facts = array_grow(reader->facts, reader->fact_count, &reader->fact_capacity,
				   sizeof *reader->facts);
	reader->facts[reader->fact_count++] = fact;
}

static int load_facts(struct recording_reader *reader, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_FACTS, 1, err);

	while (scan_next(&scan, &rc)) {
		add_fact(reader, &scan);
		scan_check(&scan, &rc);
	}
	rc = scan_end(&scan, rc);
	reader->is_finished = recording_reader_get_int(reader, KEY_FINISHED) == 1;
	return rc;
}

static int check_journal(struct recording_reader *reader, struct error *err)
{
	const struct probe *probe = &reader->probe;

	reader->is_journal_missing = probe->header.is_wal && !probe->has_wal &&
				     !probe->is_locked && !reader->is_finished;
	if (reader->is_journal_missing && reader->counts[TABLE_SAMPLE_ROWS] == 0)
		return error_set(err, -ENODATA,
				 "%s: nothing is in it: what was recorded is in %s" JOURNAL_WAL
				 ", which is not there; put it beside the recording",
				 probe->path, probe->path);
	return 0;
}

static int open_reader(struct recording_reader *reader, const char *path, struct error *err)
{
	int rc = probe_file(path, &reader->probe, err);

	if (rc == 0)
		rc = probe_fold_journals(&reader->probe, err);
	if (rc == 0 && !reader->probe.has_wal && !reader->probe.is_locked)
		rc = header_check_size(&reader->probe.header, reader->probe.file_bytes,
				       reader->probe.path, err);
	if (rc == 0)
		rc = open_database(reader, err);
	if (rc == 0)
		rc = schema_check(reader->db, reader->probe.path, err);
	reader->schema_version = rc == 0 ? schema_version_of(reader->db) : 0;
	if (rc == 0)
		rc = load_counts(reader, err);
	if (rc == 0)
		rc = load_facts(reader, err);
	return rc == 0 ? check_journal(reader, err) : rc;
}

int recording_reader_open(const char *path, struct recording_reader **out_reader,
			  struct error *err)
{
	CLEANUP(recording_reader_closep)
	struct recording_reader *reader = xzalloc(sizeof *reader);
	reader->probe.fd = -1;
	int rc = open_reader(reader, path, err);

	if (rc < 0)
		return rc;
	*out_reader = reader;
	reader = NULL;
	return 0;
}

/*
 * A recorder that ended while we read could not fold its journal in: the last to close does
 * that.
 */
static void tidy_up(const struct probe *probe)
{
	struct error ignored;
	struct probe now;

	if (!probe->is_locked || !probe->header.is_wal ||
	    probe_file(probe->path, &now, &ignored) < 0)
		return;
	if (now.header.is_wal && !now.is_locked && now.is_writable)
		journal_fold(now.path, &ignored);
	probe_done(&now);
}

void recording_reader_close(struct recording_reader *reader)
{
	if (reader == NULL)
		return;
	sqlite3_close(reader->db);
	if (reader->probe.path != NULL)
		tidy_up(&reader->probe);
	/* After SQLite's own descriptors, see lock.h. */
	probe_done(&reader->probe);
	sums_done(&reader->totals);
	arena_done(&reader->arena);
	free(reader->facts);
	free(reader->sources);
	free(reader->weights);
	free(reader);
}

void recording_reader_closep(struct recording_reader **reader)
{
	recording_reader_close(*reader);
}
