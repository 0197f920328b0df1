/*
 * Opens a recording again, to add the symbols that its recorder did not: in one transaction of
 * a rollback journal, so that killing this process leaves the recording as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/keys.h"
#include "record/lock.h"
#include "record/probe.h"
#include "record/schema_check.h"
#include "record/writer.h"
#include "record/writer_state.h"

#define BUSY_TIMEOUT_MS 2000

static void probe_donep(struct probe *probe)
{
	probe_done(probe);
}

static int lock_file(const struct probe *probe, int *out_fd, struct error *err)
{
	int fd = open(probe->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, -errno, "%s: cannot be written", probe->path);
	if (lock_take(fd) == -EBUSY) {
		lock_close(fd);
		return error_set(err, -EBUSY,
				 "%s: is still being written; try again when it has ended",
				 probe->path);
	}
	*out_fd = fd;
	return 0;
}

static int load_last_ids(struct recording_writer *writer, struct error *err)
{
	const int version = schema_version_of(writer->store.db);

	for (int i = 0; i < TABLE_COUNT; i++) {
		if (!schema_has_table((enum recording_table)i, version))
			continue;
		CLEANUP(freep)
		char *sql = xasprintf("SELECT coalesce(max(id), 0) FROM %s NOT INDEXED",
				      schema_table_name((enum recording_table)i));
		int64_t last = database_get_int(writer->store.db, sql, -1);

		if (last < 0 ||
		    (last > UINT32_MAX && !schema_has_wide_ids((enum recording_table)i)))
			return error_set(err, -EBADMSG,
					 "%s: damaged: the rows of %s cannot be "
					 "counted",
					 writer->path,
					 schema_table_name((enum recording_table)i));
		/*
		 * Tables with wide ids belong to the store, and reopening adds nothing to them.
		 */
		writer->last_id[i] = (uint32_t)last;
	}
	return 0;
}

/* Facts keep their ids, so that setting a key again replaces its row. */
static int load_facts(struct recording_writer *writer, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(writer->store.db,
				    "SELECT id, key FROM facts NOT INDEXED ORDER BY id", -1,
				    &statement, NULL);
	bool is_sound = rc == SQLITE_OK;

	while (is_sound && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *key = (const char *)sqlite3_column_text(statement, 1);

		is_sound = key != NULL && intern_string(&writer->facts, key) ==
						  sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	if (!is_sound || rc != SQLITE_DONE)
		return error_set(err, -EBADMSG, "%s: damaged: its facts cannot be read",
				 writer->path);
	return 0;
}

/* Drops the incomplete symbols of a process that was killed while it added them. */
static int drop_half_symbols(struct recording_writer *writer, struct error *err)
{
	if (database_get_int(writer->store.db,
			     "SELECT 1 FROM facts WHERE key='" KEY_SYMBOLIZED
			     "' AND value IN (1, '1')",
			     0) == 1 ||
	    (writer->last_id[TABLE_FUNCTIONS] == 0 && writer->last_id[TABLE_LOCATIONS] == 0 &&
	     writer->last_id[TABLE_SOURCES] == 0))
		return 0;
	if (writer_run(writer, "DELETE FROM functions; DELETE FROM locations; "
			       "DELETE FROM sources") < 0)
		return error_set(err, writer_rc(writer), "%s",
				 recording_writer_failure(writer));
	writer->last_id[TABLE_FUNCTIONS] = 0;
	writer->last_id[TABLE_LOCATIONS] = 0;
	writer->last_id[TABLE_SOURCES] = 0;
	return 0;
}

static int open_again(struct recording_writer *writer, struct error *err)
{
	int rc = database_open(writer->path, SQLITE_OPEN_READWRITE, NULL, &writer->store.db,
			       err);

	if (rc < 0)
		return rc;
	sqlite3_busy_timeout(writer->store.db, BUSY_TIMEOUT_MS);
	rc = schema_check(writer->store.db, writer->path, err);
	if (rc < 0)
		return rc;
	if (!schema_is_plain(writer->store.db))
		return error_set(err, -EBADMSG,
				 "%s: symbols cannot be added: it has indexes or triggers that "
				 "fathom did not make; drop them with sqlite3",
				 writer->path);
	if (!database_set_journal_mode(writer->store.db, "DELETE"))
		return error_set(err, -EBUSY, "%s: another program is reading it; try again",
				 writer->path);
	rc = load_last_ids(writer, err);
	if (rc == 0)
		rc = load_facts(writer, err);
	if (rc == 0)
		rc = drop_half_symbols(writer, err);
	writer->first_function = writer->last_id[TABLE_FUNCTIONS];
	writer->first_source = writer->last_id[TABLE_SOURCES];
	return rc;
}

int recording_writer_reopen(const char *path, struct recording_writer **out_writer,
			    struct error *err)
{
	CLEANUP(probe_donep) struct probe probe = { .fd = -1 };
	int fd = -1;
	int rc = probe_file(path, &probe, err);

	if (rc == 0)
		rc = lock_file(&probe, &fd, err);
	if (rc < 0)
		return rc;
	CLEANUP(writer_freep) struct recording_writer *writer = writer_new(probe.path, fd);
	bool has_journal = probe.has_wal || probe.has_rollback;

	writer->is_reopened = true;
	probe_done(&probe); /* before SQLite takes its locks, see lock.h */
	if (has_journal)
		rc = journal_fold(writer->path, err);
	if (rc == 0)
		rc = open_again(writer, err);
	if (rc < 0)
		return rc;
	*out_writer = writer;
	writer = NULL;
	return 0;
}
