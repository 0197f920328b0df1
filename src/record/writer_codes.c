/* Writes interpreters' code objects, each content once. */
#include "record/writer_state.h"

#include <errno.h>

#include "base/text.h"
#include "record/writer.h"
#include "record/writer_row.h"

static void generation_done(struct writer_codes_generation *generation)
{
	intern_done(&generation->contents);
	table_done(&generation->rows);
	*generation = (struct writer_codes_generation){ 0 };
}

void writer_codes_done(struct writer_codes *codes)
{
	generation_done(&codes->young);
	generation_done(&codes->old);
}

/* The row of this content in that generation; 0: not there. */
static uint32_t row_in(const struct writer_codes_generation *generation,
		       const struct text *content)
{
	const uint32_t number = intern_find(&generation->contents, content->data, content->len);
	uint64_t row = 0;

	if (number != 0)
		table_get(&generation->rows, 0, number, &row);
	return (uint32_t)row;
}

static void remember(struct writer_codes *codes, const struct text *content, uint32_t row)
{
	if (codes->young.bytes >= codes->limit_bytes) {
		generation_done(&codes->old);
		codes->old = codes->young;
		codes->young = (struct writer_codes_generation){ 0 };
	}
	struct writer_codes_generation *young = &codes->young;
	const uint32_t number = intern_add(&young->contents, content->data, content->len);

	*table_at(&young->rows, 0, number, NULL) = row;
	young->bytes += content->len + 1;
}

/* Encodes NULL differently from an empty text. */
static void content_text(struct text *content, const char *text)
{
	if (text != NULL)
		text_add(content, text);
	text_add_bytes(content, text != NULL ? "\0t" : "\0n", 2);
}

static struct text content_of(const struct recording_code *code)
{
	struct text content = { 0 };

	text_addf(&content, "%u %u ", code->language, code->line);
	content_text(&content, code->name);
	content_text(&content, code->qualified_name);
	content_text(&content, code->file);
	return content;
}

static int write_code(struct recording_writer *writer, uint32_t id,
		      const struct recording_code *code)
{
	struct row row = row_begin(writer, TABLE_CODES, id);

	row_int(&row, code->language);
	row_text(&row, code->name);
	row_text(&row, code->qualified_name);
	row_text(&row, code->file);
	row_int(&row, code->line);
	return row_end(&row);
}

int recording_writer_add_code(struct recording_writer *writer,
			      const struct recording_code *code, uint32_t *out_id)
{
	struct writer_codes *codes = &writer->codes;

	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (writer->is_reopened || code->name == NULL)
		return -EINVAL;
	struct text content = content_of(code);
	uint32_t id = row_in(&codes->young, &content);

	if (id == 0) {
		id = row_in(&codes->old, &content);
		if (id == 0) {
			id = writer_next_id(writer, TABLE_CODES);
			write_code(writer, id, code);
		}
		remember(codes, &content, id);
	}
	text_done(&content);
	if (writer_rc(writer) == 0)
		*out_id = id;
	return writer_rc(writer);
}

static int write_interpreter(struct recording_writer *writer, uint32_t id,
			     const struct recording_interpreter *interpreter)
{
	struct row row = row_begin(writer, TABLE_INTERPRETERS, id);

	row_int(&row, interpreter->process);
	row_int(&row, interpreter->module);
	row_int(&row, interpreter->language);
	row_text(&row, interpreter->version);
	row_text(&row, interpreter->why_not);
	return row_end(&row);
}

static bool is_possible(const struct recording_writer *writer,
			const struct recording_interpreter *interpreter)
{
	return !writer->is_reopened && interpreter->process != 0 &&
	       interpreter->process <= writer->process_count &&
	       interpreter->module <= writer->last_id[TABLE_MODULES];
}

int recording_writer_add_interpreter(struct recording_writer *writer,
				     const struct recording_interpreter *interpreter,
				     uint32_t *out_id)
{
	if (!is_possible(writer, interpreter))
		return -EINVAL;
	const uint32_t id = writer_next_id(writer, TABLE_INTERPRETERS);
	int rc = write_interpreter(writer, id, interpreter);

	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_update_interpreter(struct recording_writer *writer,
					const struct recording_interpreter *interpreter)
{
	if (!is_possible(writer, interpreter) || interpreter->id == 0 ||
	    interpreter->id > writer->last_id[TABLE_INTERPRETERS])
		return -EINVAL;
	return write_interpreter(writer, interpreter->id, interpreter);
}
