/* database - how the files of record/ use SQLite: opening, executing, failures as sentences. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

struct error;

/* A negative errno for SQLite's result code. */
int database_errno(int sqlite_rc);
/*
 * Sets "path: context: SQLite's reason (the system's reason)" and returns the errno.
 * db may be NULL.
 */
int database_error(struct error *err, sqlite3 *db, int sqlite_rc, const char *path,
		   const char *context);

/*
 * Opens path, whatever bytes are in its name, hardened against hostile content: no SQL stored
 * in the file is executed. parameters is NULL or like "immutable=1". The caller closes *out_db:
 * sqlite3_close().
 */
int database_open(const char *path, int flags, const char *parameters, sqlite3 **out_db,
		  struct error *err);
/* A database in memory, hardened likewise. */
int database_open_memory(sqlite3 **out_db, struct error *err);
/* Executes statements that return no rows; returns SQLite's code. */
int database_exec(sqlite3 *db, const char *sql);
/* The first column of the first row as an integer, or fallback. */
int64_t database_get_int(sqlite3 *db, const char *sql, int64_t fallback);
/* Sets the journal mode; returns whether the database then is in that mode. */
bool database_set_journal_mode(sqlite3 *db, const char *mode);

/* For CLEANUP(). */
void database_closep(sqlite3 **db);
