/*
 * schema_check - whether a database's tables are those of a recording.
 */
#pragma once
#include <stdbool.h>

#include <sqlite3.h>

struct error;

/* The schema version that the database records. */
int schema_version_of(sqlite3 *db);
/*
 * -EBADMSG and a sentence unless every table exists with its version's definition. Other
 * tables, indexes and views are allowed, as people add them to explore.
 */
int schema_check(sqlite3 *db, const char *path, struct error *err);
/* Whether the database lacks additions that take part in writing (an index, a trigger). */
bool schema_is_plain(sqlite3 *db);
