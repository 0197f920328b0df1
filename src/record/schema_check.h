/*
 * schema_check - whether a database's tables are those of a recording.
 */
#pragma once
#include <stdbool.h>

#include <sqlite3.h>

struct error;

/* The version the database says its tables are of. */
int schema_version_of(sqlite3 *db);
/*
 * -EBADMSG and a sentence unless every table is there with the definition that its version
 * has.  Other tables, indexes and views may be there, as people add them to explore.
 */
int schema_check(sqlite3 *db, const char *path, struct error *err);
/* Whether nothing was added that would take part in writing (an index, a trigger). */
bool schema_is_plain(sqlite3 *db);
