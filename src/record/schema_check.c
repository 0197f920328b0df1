#include "record/schema_check.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/database.h"
#include "record/schema.h"

static int check_table(sqlite3 *db, sqlite3_stmt *statement, enum recording_table table,
		       int version, const char *path, struct error *err)
{
	CLEANUP(freep) char *due = schema_create_sql(table, version);

	sqlite3_bind_text(statement, 1, schema_table_name(table), -1, SQLITE_STATIC);
	int rc = sqlite3_step(statement);
	const char *is =
		rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
	bool is_ours = is != NULL && strcmp(is, due) == 0;

	sqlite3_reset(statement);
	if (is_ours)
		return 0;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return database_error(err, db, rc, path, "damaged");
	return error_set(
		err, -EBADMSG,
		"%s: damaged: table %s is missing or is not as fathom makes it; copy it "
		"again from where it was recorded",
		path, schema_table_name(table));
}

int schema_version_of(sqlite3 *db)
{
	return (int)database_get_int(db, "PRAGMA user_version", 0);
}

int schema_check(sqlite3 *db, const char *path, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	const int version = schema_version_of(db);
	int rc = sqlite3_prepare_v2(db,
				    "SELECT sql FROM main.sqlite_schema WHERE type='table' AND "
				    "name=?1 AND tbl_name=?1",
				    -1, &statement, NULL);

	if (rc != SQLITE_OK)
		return database_error(err, db, rc, path, "cannot be read");
	rc = 0;
	for (int i = 0; i < TABLE_COUNT && rc == 0; i++) {
		if (!schema_has_table((enum recording_table)i, version))
			continue;
		rc = check_table(db, statement, (enum recording_table)i, version, path, err);
	}
	sqlite3_finalize(statement);
	return rc;
}

bool schema_is_plain(sqlite3 *db)
{
	return database_get_int(db,
				"SELECT count(*) FROM main.sqlite_schema "
				"WHERE type IN ('trigger', 'index')",
				1) == 0;
}
