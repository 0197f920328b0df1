#include "record/database.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

int database_errno(int sqlite_rc)
{
	switch (sqlite_rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR:
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

/*
 * The system's errno. SQLite keeps it only for some failures; for failed reads and writes errno
 * itself is still valid.
 */
static int system_errno(sqlite3 *db, int sqlite_rc, int last_errno)
{
	switch (sqlite_rc) {
	case SQLITE_IOERR_READ:
	case SQLITE_IOERR_WRITE:
	case SQLITE_IOERR_FSYNC:
	case SQLITE_IOERR_TRUNCATE:
		return last_errno;
	default:
		break;
	}
	bool is_kept =
		(sqlite_rc & 0xff) == SQLITE_CANTOPEN || (sqlite_rc & 0xff) == SQLITE_IOERR;

	return is_kept ? sqlite3_system_errno(db) : 0;
}

int database_error(struct error *err, sqlite3 *db, int sqlite_rc, const char *path,
		   const char *context)
{
	int system = db != NULL ? system_errno(db, sqlite_rc, errno) : 0;
	const char *reason = sqlite3_errstr(sqlite_rc);

	if (db != NULL && (sqlite3_errcode(db) & 0xff) == (sqlite_rc & 0xff))
		reason = sqlite3_errmsg(db);
	if (system != 0)
		return error_set(err, database_errno(sqlite_rc), "%s: %s: %s (%s)", path,
				 context, reason, strerror(system));
	return error_set(err, database_errno(sqlite_rc), "%s: %s: %s", path, context, reason);
}

/* The prefix "./" keeps names like ":memory:" from having a special meaning. */
static void add_uri(struct text *uri, const char *path, const char *parameters)
{
	text_add(uri, path[0] == '/' ? "file:" : "file:./");
	for (const char *at = path; *at != '\0'; at++) {
		if (isalnum((unsigned char)*at) || strchr("/._-", *at) != NULL)
			text_add_bytes(uri, at, 1);
		else
			text_addf(uri, "%%%02X", (unsigned char)*at);
	}
	if (parameters != NULL)
		text_addf(uri, "?%s", parameters);
}

static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	database_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
}

static int open_name(const char *name, const char *path, int flags, sqlite3 **out_db,
		     struct error *err)
{
	CLEANUP(database_closep) sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
				 NULL);

	if (rc != SQLITE_OK)
		return database_error(err, db, rc, path, "cannot be opened");
	harden(db);
	*out_db = db;
	db = NULL;
	return 0;
}

int database_open(const char *path, int flags, const char *parameters, sqlite3 **out_db,
		  struct error *err)
{
	struct text uri = { 0 };

	add_uri(&uri, path, parameters);
	int rc = open_name(uri.data, path, flags | SQLITE_OPEN_URI, out_db, err);
	text_done(&uri);
	return rc;
}

int database_open_memory(sqlite3 **out_db, struct error *err)
{
	return open_name(":memory:", "memory", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			 out_db, err);
}

int database_exec(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int64_t database_get_int(sqlite3 *db, const char *sql, int64_t fallback)
{
	sqlite3_stmt *statement = NULL;
	int64_t value = fallback;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

bool database_set_journal_mode(sqlite3 *db, const char *mode)
{
	CLEANUP(freep) char *sql = xasprintf("PRAGMA journal_mode=%s", mode);
	sqlite3_stmt *statement = NULL;
	bool is_set = false;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW) {
		const char *now = (const char *)sqlite3_column_text(statement, 0);

		is_set = now != NULL && strcasecmp(now, mode) == 0;
	}
	sqlite3_finalize(statement);
	return is_set;
}

void database_closep(sqlite3 **db)
{
	sqlite3_close(*db);
}
