#include "record/writer_row.h"

#include <stdlib.h>

#include "base/memory.h"
#include "record/writer_state.h"

/* So that reading an integer of the last entry never reads past the chunk. */
#define SLACK_BYTES 8

static uint8_t *row_room(struct recording_writer *writer, size_t len)
{
	struct queue_chunk *chunk = writer->chunk;

	if (chunk == NULL)
		writer->chunk = chunk = queue_chunk_new(WRITER_CHUNK_BYTES + 2 * SLACK_BYTES);
	if (chunk->capacity - chunk->len < len + SLACK_BYTES) {
		size_t capacity = chunk->capacity * 2;

		if (capacity - chunk->len < len + SLACK_BYTES)
			capacity = chunk->len + len + SLACK_BYTES;
		chunk->bytes = xreallocarray(chunk->bytes, capacity, 1);
		chunk->capacity = capacity;
	}
	return chunk->bytes + chunk->len;
}

static void row_put_byte(struct recording_writer *writer, unsigned int byte)
{
	*row_room(writer, 1) = (uint8_t)byte;
	writer->chunk->len++;
}

static void row_put_bytes(struct recording_writer *writer, enum row_value kind,
			  const void *data, size_t len)
{
	uint8_t *at = row_room(writer, 1 + ROW_INT_BYTES + len);

	*at++ = (uint8_t)kind;
	at = row_put_int(at, (int64_t)len);
	if (len > 0)
		memcpy(at, data, len);
	writer->chunk->len = (size_t)(at + len - writer->chunk->bytes);
}

struct row row_begin_entry(struct recording_writer *writer, unsigned int entry)
{
	const int rc = writer_rc(writer);

	if (rc == 0)
		row_put_byte(writer, entry);
	return (struct row){ .writer = rc == 0 ? writer : NULL, .rc = rc };
}

struct row row_begin(struct recording_writer *writer, enum recording_table table, int64_t id)
{
	struct row row = row_begin_entry(writer, table);

	row_int(&row, id);
	return row;
}

void row_int(struct row *row, int64_t value)
{
	if (row->writer == NULL)
		return;
	uint8_t *end = row_put_int(row_room(row->writer, ROW_INT_BYTES), value);

	row->writer->chunk->len = (size_t)(end - row->writer->chunk->bytes);
}

void row_figure(struct row *row, int64_t value)
{
	if (value != RECORDING_UNKNOWN)
		row_int(row, value);
	else if (row->writer != NULL)
		row_put_byte(row->writer, ROW_NULL);
}

void row_text(struct row *row, const char *text)
{
	if (row->writer == NULL)
		return;
	if (text == NULL)
		row_put_byte(row->writer, ROW_NULL);
	else
		row_put_bytes(row->writer, ROW_TEXT, text, strlen(text));
}

void row_blob(struct row *row, const void *data, size_t len)
{
	if (row->writer != NULL)
		row_put_bytes(row->writer, ROW_BLOB, data, data != NULL ? len : 0);
}

int row_end(struct row *row)
{
	if (row->writer == NULL)
		return row->rc;
	if (row->writer->chunk->len >= WRITER_CHUNK_BYTES)
		writer_hand_over(row->writer);
	return writer_rc(row->writer);
}
