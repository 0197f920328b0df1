/* Creates a writer's file. */
#include "record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/lock.h"
#include "record/probe.h"
#include "record/writer_state.h"

#ifndef CEPH_SUPER_MAGIC
#define CEPH_SUPER_MAGIC 0x00c36400
#endif

/* How long a commit in rollback-journal mode waits for a reader; the next tick tries again. */
#define BUSY_TIMEOUT_MS 100

/*
 * Refuses a path that has a journal but no recording: SQLite would take the journal for the new
 * recording's and delete it.
 */
static int refuse_stray_journal(const char *path, struct error *err)
{
	static const char *const suffixes[] = { JOURNAL_WAL, JOURNAL_ROLLBACK };

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (journal_is_there(path, suffixes[i]))
			return error_set(err, -EEXIST,
					 "%s: cannot be made: %s%s is there, the journal of "
					 "another recording; put it beside that recording, or "
					 "remove it",
					 path, path, suffixes[i]);
	return 0;
}

static bool is_at(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && stat(path, &there) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/*
 * Creates the file with access for its owner only, whatever the umask: it may contain copies of
 * programs that only the recorder may read. SQLite gives the journals the same mode.
 */
static int create_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0 && fchmod(fd, 0600) < 0 && errno != EPERM && errno != ENOTSUP) {
		int saved_errno = errno;

		close(fd);
		unlink(path);
		errno = saved_errno;
		return -1;
	}
	return fd;
}

/* Another recorder that finds an empty file removes it unless it is locked: hence is_at(). */
static int make_file(const char *path, int *out_fd, struct error *err)
{
	int fd = create_private(path);

	if (fd < 0 && errno == EEXIST)
		return error_set(err, -EEXIST,
				 "%s: is there already; name another file with -o", path);
	if (fd < 0)
		return error_errno(err, -errno, "%s: cannot be made", path);
	if (lock_take(fd) == -EBUSY || !is_at(fd, path)) {
		lock_close(fd);
		return error_set(err, -EEXIST, "%s: another recorder was faster; try again",
				 path);
	}
	*out_fd = fd;
	return 0;
}

static void unlink_all(const char *path)
{
	static const char *const suffixes[] = { "", JOURNAL_WAL, JOURNAL_SHM,
						JOURNAL_ROLLBACK };

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		CLEANUP(freep) char *name = journal_path(path, suffixes[i]);

		unlink(name);
	}
}

static int make_tables(sqlite3 *db)
{
	CLEANUP(freep)
	char *head = xasprintf("PRAGMA page_size=%d; PRAGMA encoding='UTF-8'; BEGIN; "
			       "PRAGMA application_id=%d; PRAGMA user_version=%d",
			       RECORDING_PAGE_SIZE, (int)RECORDING_APPLICATION_ID,
			       RECORDING_SCHEMA_VERSION);
	int rc = database_exec(db, head);

	for (int i = 0; i < TABLE_COUNT && rc == SQLITE_OK; i++) {
		CLEANUP(freep)
		char *sql =
			schema_create_sql((enum recording_table)i, RECORDING_SCHEMA_VERSION);

		rc = database_exec(db, sql);
	}
	if (rc == SQLITE_OK)
		rc = database_exec(db, schema_view_sql());
	return rc == SQLITE_OK ? database_exec(db, "COMMIT") : rc;
}

/*
 * WAL needs memory shared by all processes that open the file, which network file systems do
 * not provide between machines. https://www.sqlite.org/wal.html, "all processes must be on the
 * same host".
 */
static bool is_on_network(int fd)
{
	static const long types[] = {
		NFS_SUPER_MAGIC, 0x517b /* SMB */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */,
		V9FS_MAGIC,      AFS_SUPER_MAGIC,  CEPH_SUPER_MAGIC
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if ((uint32_t)fs.f_type == (uint32_t)types[i])
			return true;
	return false;
}

/* Whether the mode works here, by a commit. */
static bool journal_mode_works(sqlite3 *db, const char *mode)
{
	return database_set_journal_mode(db, mode) &&
	       database_exec(db, "BEGIN IMMEDIATE; PRAGMA user_version=0; "
				 "PRAGMA user_version=8; COMMIT") == SQLITE_OK;
}

_Static_assert(RECORDING_SCHEMA_VERSION == 8, "journal_mode_works() writes the version");

static int open_to_write(struct recording_writer *writer, struct error *err)
{
	int rc = database_open(writer->path, SQLITE_OPEN_READWRITE, NULL, &writer->store.db,
			       err);

	if (rc < 0)
		return rc;
	sqlite3_busy_timeout(writer->store.db, BUSY_TIMEOUT_MS);
	writer->max_value_bytes =
		(size_t)sqlite3_limit(writer->store.db, SQLITE_LIMIT_LENGTH, -1);
	/*
	 * Nothing is written before a commit, so only commits can be blocked by readers. A file
	 * without content is not worth waiting for the disk: begin_file() restores synchronous
	 * mode.
	 */
	database_exec(writer->store.db, "PRAGMA wal_autocheckpoint=0; PRAGMA cache_spill=OFF; "
					"PRAGMA synchronous=OFF");
	return 0;
}

static int refuse_to_make(struct recording_writer *writer, struct error *err)
{
	return database_error(err, writer->store.db, sqlite3_extended_errcode(writer->store.db),
			      writer->path, "cannot be made");
}

/* A connection that has found WAL not to work cannot leave that mode: open another one. */
static int fall_back(struct recording_writer *writer, struct error *err)
{
	sqlite3_close(writer->store.db);
	writer->store.db = NULL;
	int rc = journal_fold(writer->path, err);

	if (rc == 0)
		rc = open_to_write(writer, err);
	if (rc == 0 && !journal_mode_works(writer->store.db, "DELETE"))
		rc = refuse_to_make(writer, err);
	return rc;
}

static int begin_file(struct recording_writer *writer, struct error *err)
{
	int rc = open_to_write(writer, err);

	if (rc < 0)
		return rc;
	if (make_tables(writer->store.db) != SQLITE_OK)
		return refuse_to_make(writer, err);
	writer->store.is_wal =
		!is_on_network(writer->lock_fd) && journal_mode_works(writer->store.db, "WAL");
	if (!writer->store.is_wal)
		rc = fall_back(writer, err);
	if (rc == 0)
		database_exec(writer->store.db, "PRAGMA synchronous=NORMAL");
	return rc;
}

int recording_writer_create(const char *path, struct recording_writer **out_writer,
			    struct error *err)
{
	int fd = -1;
	int rc = refuse_stray_journal(path, err);

	if (rc == 0)
		rc = make_file(path, &fd, err);
	if (rc < 0)
		return rc;
	CLEANUP(writer_freep) struct recording_writer *writer = writer_new(path, fd);
	rc = begin_file(writer, err);
	if (rc < 0) {
		unlink_all(path);
		return rc;
	}
	*out_writer = writer;
	writer = NULL;
	return 0;
}
