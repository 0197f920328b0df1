#include "load/codes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "load/names.h"
#include "record/reader.h"

struct codes {
	struct names *names;
	struct table functions;         /* a code's id to the index of its function + 1 */
	struct table modules;           /* those that are interpreted, to 1 */
	struct recording_frame *frames; /* of those, without a location */
	size_t frame_count, frame_capacity;
	struct error *err;
};

static int read_module(void *context, const struct recording_module *row)
{
	struct codes *codes = context;

	if (row->kind == MODULE_KIND_INTERPRETED)
		*table_at(&codes->modules, 0, row->id, NULL) = 1;
	return 0;
}

/* An interpreted function is in no module: its file identifies it. */
static int read_code(void *context, const struct recording_code *row)
{
	struct codes *codes = context;
	const char *name = row->qualified_name ? row->qualified_name : row->name;
	uint32_t function = names_add_function(codes->names, &(struct named_function){
								     .language = row->language,
								     .name = name,
								     .plain_name = row->name,
								     .file = row->file,
								     .line = row->line,
							     });

	*table_at(&codes->functions, 0, row->id, NULL) = (uint64_t)function + 1;
	return 0;
}

static int collect_frame(void *context, const struct recording_frame *row)
{
	struct codes *codes = context;
	uint64_t is_interpreted = 0;
	size_t known = 0;

	if (!table_get(&codes->modules, 0, row->module, &is_interpreted))
		return 0;
	names_of_frame(codes->names, row->id, &known);
	if (known)
		return 0;
	codes->frames = array_grow(codes->frames, codes->frame_count, &codes->frame_capacity,
				   sizeof *codes->frames);
	codes->frames[codes->frame_count++] = *row;
	return 0;
}

static int name_frames(const struct codes *codes)
{
	for (size_t i = 0; i < codes->frame_count; i++) {
		const struct recording_frame *frame = &codes->frames[i];
		uint32_t code = (uint32_t)(frame->address >> 32);
		uint64_t function = 0;

		if (!table_get(&codes->functions, 0, code, &function))
			return error_set(codes->err, -EBADMSG,
					 "the recording is damaged: frame %" PRIu32
					 " names code %" PRIu32 ", which is not there",
					 frame->id, code);
		function--;
		names_add_location(codes->names,
				   &(struct named_location){
					   .frame = frame->id,
					   .function = (uint32_t)function,
					   .line = (uint32_t)frame->address,
					   .file = codes->names->functions[function].file,
				   });
	}
	return 0;
}

int codes_read(struct names *names, struct recording_reader *reader, struct error *err)
{
	struct codes codes = { .names = names, .err = err };
	int rc = recording_reader_each_module(reader, read_module, &codes, err);

	if (rc == 0 && codes.modules.count) {
		rc = recording_reader_each_code(reader, read_code, &codes, err);
		names_sort(names);
		if (rc == 0)
			rc = recording_reader_each_frame(reader, collect_frame, &codes, err);
		if (rc == 0)
			rc = name_frames(&codes);
		names_sort(names);
	}
	free(codes.frames);
	table_done(&codes.functions);
	table_done(&codes.modules);
	return rc;
}
