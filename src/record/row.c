#include "record/writer_state.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Rows that may be written again are replaced; samples and sums never are, and inserting is
 * faster. */
static int prepare(struct recording_writer *writer, enum recording_table table)
{
	bool is_written_once = table == TABLE_SAMPLE_ROWS || table == TABLE_SUMS;
	CLEANUP(freep)
	char *sql = schema_insert_sql(table, is_written_once ? "INSERT" : "REPLACE");
	int rc = sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				    &writer->inserts[table], NULL);

	return rc == SQLITE_OK ? 0 : writer_fail(writer, rc);
}

struct row row_begin(struct recording_writer *writer, enum recording_table table, int64_t id)
{
	struct row row = { .writer = writer };

	if (writer->failure_rc < 0 || writer_begin(writer) < 0)
		return row;
	if (writer->inserts[table] == NULL && prepare(writer, table) < 0)
		return row;
	row.statement = writer->inserts[table];
	row_int(&row, id);
	return row;
}

void row_int(struct row *row, int64_t value)
{
	if (row->statement != NULL)
		sqlite3_bind_int64(row->statement, ++row->column, value);
}

void row_figure(struct row *row, int64_t value)
{
	if (value != RECORDING_UNKNOWN)
		row_int(row, value);
	else if (row->statement != NULL)
		sqlite3_bind_null(row->statement, ++row->column);
}

static bool is_utf8(const char *bytes, size_t len)
{
	struct text escaped = { 0 };

	text_add_utf8(&escaped, bytes, len);
	bool is_same = escaped.len == len;
	text_done(&escaped);
	return is_same;
}

void row_text(struct row *row, const char *text)
{
	if (row->statement == NULL)
		return;
	row->column++;
	if (text == NULL)
		sqlite3_bind_null(row->statement, row->column);
	else if (is_utf8(text, strlen(text)))
		sqlite3_bind_text64(row->statement, row->column, text, strlen(text),
				    SQLITE_STATIC, SQLITE_UTF8);
	else
		sqlite3_bind_blob64(row->statement, row->column, text, strlen(text),
				    SQLITE_STATIC);
}

void row_blob(struct row *row, const void *data, size_t len)
{
	if (row->statement == NULL)
		return;
	row->column++;
	if (data == NULL)
		sqlite3_bind_zeroblob(row->statement, row->column, 0);
	else
		sqlite3_bind_blob64(row->statement, row->column, data, len, SQLITE_STATIC);
}

int row_end(struct row *row)
{
	if (row->statement == NULL)
		return row->writer->failure_rc;
	int rc = sqlite3_step(row->statement);

	sqlite3_reset(row->statement);
	return rc == SQLITE_DONE ? 0 : writer_fail(row->writer, rc);
}
