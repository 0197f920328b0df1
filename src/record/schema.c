#include "record/schema.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const struct {
	const char *name;
	int column_count;
	const char *columns;
} tables[] = {
#define TABLE_ROW(name, table, count, columns) [TABLE_##name] = { table, count, columns },
	RECORDING_TABLE_MAP(TABLE_ROW)
#undef TABLE_ROW
};

static const struct {
	int version; /* that added columns; 0: none did */
	const char *columns;
} additions[TABLE_COUNT] = {
#define ADDITION_ROW(table, version, column) [TABLE_##table] = { version, column },
	RECORDING_ADDITION_MAP(ADDITION_ROW)
#undef ADDITION_ROW
};

static const int table_versions[TABLE_COUNT] = {
#define NEW_TABLE_ROW(table, version) [TABLE_##table] = version,
	RECORDING_NEW_TABLE_MAP(NEW_TABLE_ROW)
#undef NEW_TABLE_ROW
};

bool schema_has_table(enum recording_table table, int version)
{
	return version >= table_versions[table];
}

bool schema_has_wide_ids(enum recording_table table)
{
	return table == TABLE_SAMPLE_ROWS || table == TABLE_BATCHES || table == TABLE_SUMS;
}

/* The length of the column list without the columns that a version lacks. */
static int columns_len(enum recording_table table, int version)
{
	const size_t len = strlen(tables[table].columns);

	if (version >= additions[table].version)
		return (int)len;
	return (int)(len - strlen(", ") - strlen(additions[table].columns));
}

const char *schema_table_name(enum recording_table table)
{
	return tables[table].name;
}

int schema_column_count(enum recording_table table)
{
	return tables[table].column_count;
}

char *schema_create_sql(enum recording_table table, int version)
{
	return xasprintf("CREATE TABLE %s(id INTEGER PRIMARY KEY, %.*s)", tables[table].name,
			 columns_len(table, version), tables[table].columns);
}

char *schema_insert_sql(enum recording_table table, const char *verb)
{
	struct text sql = { 0 };

	text_addf(&sql, "%s INTO %s VALUES(?", verb, tables[table].name);
	for (int i = 0; i < tables[table].column_count; i++)
		text_add(&sql, ",?");
	text_add(&sql, ")");
	return sql.data;
}

/* Adds ", NULL" for each column that a version lacks. */
static void add_missing(struct text *sql, enum recording_table table, int version)
{
	const char *at = additions[table].columns;

	if (version >= additions[table].version)
		return;
	text_add(sql, ", NULL");
	while ((at = strchr(at, ',')) != NULL) {
		text_add(sql, ", NULL");
		at++;
	}
}

/* NOT INDEXED: an index that someone added later may be damaged or inconsistent. */
char *schema_select_sql(enum recording_table table, int version)
{
	struct text sql = { 0 };

	text_addf(&sql, "SELECT id, %.*s", columns_len(table, version), tables[table].columns);
	add_missing(&sql, table, version);
	text_addf(&sql, " FROM main.%s NOT INDEXED WHERE id >= ?1 ORDER BY id",
		  tables[table].name);
	return sql.data;
}

const char *schema_view_sql(void)
{
	return "CREATE VIEW samples AS "
	       "SELECT s.id, s.time + (SELECT b.base_ns FROM batches b WHERE b.id <= s.id "
	       "ORDER BY b.id DESC LIMIT 1) AS time_ns, "
	       "s.thread, s.stack, s.how % 16 AS state, s.how / 16 AS ending, "
	       "coalesce(s.weight, p.sample_weight_ns) AS weight_ns "
	       "FROM sample_rows s LEFT JOIN threads t ON t.id = s.thread "
	       "LEFT JOIN processes p ON p.id = t.process";
}
