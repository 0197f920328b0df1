/* Writes the names and lines of symbolized addresses. */
#include "record/writer_state.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "record/writer.h"
#include "record/writer_row.h"

/* The id of a source file's path; 0 for NULL. */
static uint32_t source_of(struct recording_writer *writer, const char *path)
{
	size_t known = writer->sources.count;
	uint32_t content = intern_string(&writer->sources, path);

	if (content == 0)
		return 0;
	uint32_t id = writer->first_source + content;
	if (writer->sources.count > known) {
		struct row row = row_begin(writer, TABLE_SOURCES, id);

		row_text(&row, path);
		row_end(&row);
		writer->last_id[TABLE_SOURCES] = id;
	}
	return id;
}

/* The bytes by which functions are compared. */
static uint32_t content_of(struct recording_writer *writer,
			   const struct recording_function *function, uint32_t source)
{
	struct text key = { 0 };

	text_addf(&key, "%u %u %u %u ", function->language, function->module, source,
		  function->line);
	text_add(&key, function->name != NULL ? function->name : "");
	uint32_t content = intern_add(&writer->functions, key.data, key.len);
	text_done(&key);
	return content;
}

int recording_writer_add_function(struct recording_writer *writer,
				  const struct recording_function *function, uint32_t *out_id)
{
	size_t known = writer->functions.count;

	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (function->module > writer->last_id[TABLE_MODULES])
		return -EINVAL;
	uint32_t source = source_of(writer, function->file);
	uint32_t id = writer->first_function + content_of(writer, function, source);

	if (writer->functions.count > known) {
		struct row row = row_begin(writer, TABLE_FUNCTIONS, id);

		row_int(&row, function->language);
		row_int(&row, function->module);
		row_text(&row, function->name != NULL ? function->name : "");
		row_int(&row, source);
		row_int(&row, function->line);
		if (row_end(&row) < 0)
			return writer_rc(writer);
		writer->last_id[TABLE_FUNCTIONS] = id;
	}
	*out_id = id;
	return 0;
}

int recording_writer_add_location(struct recording_writer *writer,
				  const struct recording_location *location)
{
	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (location->frame == 0 || location->frame > writer->last_id[TABLE_FRAMES] ||
	    location->function == 0 || location->function > writer->last_id[TABLE_FUNCTIONS])
		return -EINVAL;
	uint32_t source = source_of(writer, location->file);
	struct row row = row_begin(writer, TABLE_LOCATIONS, ++writer->last_id[TABLE_LOCATIONS]);

	row_int(&row, location->frame);
	row_int(&row, location->depth);
	row_int(&row, location->function);
	row_int(&row, source);
	row_int(&row, location->line);
	row_int(&row, (int64_t)location->address);
	return row_end(&row);
}
