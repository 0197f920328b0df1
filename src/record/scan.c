/* Iterates over a table's rows in the order of their ids (reader_state.h). */
#include <errno.h>
#include <inttypes.h>

#include "base/memory.h"
#include "record/reader_state.h"
#include "record/reader.h"

static int fail(struct scan *scan, int sqlite_rc)
{
	int rc = database_error(scan->err, scan->reader->db, sqlite_rc,
				scan->reader->probe.path, schema_table_name(scan->table));

	return rc == -EBADMSG ? error_wrap(scan->err, rc, "damaged") : rc;
}

int scan_begin(struct scan *scan, struct recording_reader *reader, enum recording_table table,
	       uint64_t first_id, struct error *err)
{
	*scan = (struct scan){
		.reader = reader, .table = table, .id = first_id - 1, .err = err
	};
	if (!schema_has_table(table, reader->schema_version))
		return 0;
	CLEANUP(freep) char *sql = schema_select_sql(table, reader->schema_version);
	int rc = sqlite3_prepare_v2(reader->db, sql, -1, &scan->statement, NULL);
	if (rc != SQLITE_OK)
		return fail(scan, rc);
	sqlite3_bind_int64(scan->statement, 1, (int64_t)first_id);
	return 0;
}

static int refuse_order(struct scan *scan)
{
	return error_set(
		scan->err, -EBADMSG,
		"%s: damaged: %s: a row is missing or out of order after row %" PRIu64
		"; copy it again from where it was recorded, or save what can be saved "
		"with sqlite3's .recover",
		scan->reader->probe.path, schema_table_name(scan->table), scan->id);
}

/*
 * Requiring ids without gaps bounds every loop: otherwise a damaged tree could return the same
 * pages again and again.
 */
bool scan_next(struct scan *scan, int *rc)
{
	if (*rc != 0 || scan->statement == NULL)
		return false;
	const uint64_t last = scan->reader->counts[scan->table];
	int sqlite_rc = sqlite3_step(scan->statement);

	if (sqlite_rc == SQLITE_DONE && scan->id < last && scan->table != TABLE_BATCHES)
		*rc = refuse_order(scan);
	else if (sqlite_rc != SQLITE_ROW && sqlite_rc != SQLITE_DONE)
		*rc = fail(scan, sqlite_rc);
	if (sqlite_rc != SQLITE_ROW)
		return false;
	int64_t id = sqlite3_column_int64(scan->statement, 0);
	bool is_next = scan->table == TABLE_BATCHES ? id > (int64_t)scan->id
						    : id == (int64_t)scan->id + 1;

	if (!is_next || (uint64_t)id > last)
		*rc = refuse_order(scan);
	scan->id = (uint64_t)id;
	scan->damage = NULL;
	return *rc == 0;
}

int scan_end(struct scan *scan, int rc)
{
	sqlite3_finalize(scan->statement);
	scan->statement = NULL;
	return rc;
}

void scan_damage(struct scan *scan, const char *what)
{
	if (scan->damage == NULL)
		scan->damage = what;
}

int64_t scan_figure(struct scan *scan, int column)
{
	switch (sqlite3_column_type(scan->statement, column)) {
	case SQLITE_INTEGER:
		return sqlite3_column_int64(scan->statement, column);
	case SQLITE_NULL:
		return RECORDING_UNKNOWN;
	default:
		scan_damage(scan, "holds something else than a number");
		return 0;
	}
}

uint64_t scan_u64(struct scan *scan, int column)
{
	if (sqlite3_column_type(scan->statement, column) != SQLITE_INTEGER)
		scan_damage(scan, "holds something else than a number");
	return (uint64_t)sqlite3_column_int64(scan->statement, column);
}

uint32_t scan_u32(struct scan *scan, int column)
{
	uint64_t value = scan_u64(scan, column);

	if (value <= UINT32_MAX)
		return (uint32_t)value;
	scan_damage(scan, "holds a number that is too large");
	return 0;
}

uint32_t scan_id(struct scan *scan, int column, enum recording_table table)
{
	uint32_t id = scan_u32(scan, column);

	if (id <= scan->reader->counts[table])
		return id;
	scan_damage(scan, "refers to a row that does not exist");
	return 0;
}

uint64_t scan_sample_id(struct scan *scan, int column)
{
	uint64_t id = scan_u64(scan, column);

	if (id <= scan->reader->counts[TABLE_SAMPLE_ROWS])
		return id;
	scan_damage(scan, "refers to a row that does not exist");
	return 0;
}

const char *scan_text(struct scan *scan, int column)
{
	return (const char *)sqlite3_column_text(scan->statement, column);
}

bool scan_check(struct scan *scan, int *rc)
{
	if (scan->damage == NULL)
		return true;
	*rc = error_set(scan->err, -EBADMSG,
			"%s: damaged: row %" PRIu64
			" of %s %s; copy it again from where it was "
			"recorded",
			scan->reader->probe.path, scan->id, schema_table_name(scan->table),
			scan->damage);
	return false;
}
