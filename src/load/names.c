#include "load/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/keys.h"
#include "record/reader.h"
#include "record/writer.h"

void names_done(struct names *names)
{
	intern_done(&names->strings);
	table_done(&names->function_index);
	table_done(&names->first_of_frame);
	free(names->functions);
	free(names->locations);
	free(names->unread_lines);
	*names = (struct names){ 0 };
}

static const char *keep_string(struct names *names, uint32_t id)
{
	return intern_get(&names->strings, id, NULL);
}

/* Functions of a recording that was symbolized before have no plain names yet. */
static void keep_plain_name(struct names *names, size_t index, const char *plain_name)
{
	if (plain_name && !names->functions[index].plain_name)
		names->functions[index].plain_name =
			keep_string(names, intern_string(&names->strings, plain_name));
}

uint32_t names_add_function(struct names *names, const struct named_function *function)
{
	uint32_t name = intern_string(&names->strings, function->name ? function->name : "");
	uint32_t file = intern_string(&names->strings, function->file);
	uint64_t hi = (uint64_t)name << 32 | file;
	uint64_t lo = (uint64_t)function->module << 32 | function->line;
	bool is_new = false;
	uint64_t *place = table_at(&names->function_index, hi, lo, &is_new);

	/* The language follows from the module, except for damaged files, where the
	 * first one wins. */
	if (!is_new) {
		keep_plain_name(names, (size_t)(*place - 1), function->plain_name);
		return (uint32_t)(*place - 1);
	}
	names->functions = array_grow(names->functions, names->function_count,
				      &names->function_capacity, sizeof *names->functions);
	names->functions[names->function_count] = *function;
	names->functions[names->function_count].name = keep_string(names, name);
	names->functions[names->function_count].file = keep_string(names, file);
	names->functions[names->function_count].plain_name = NULL;
	*place = ++names->function_count;
	keep_plain_name(names, names->function_count - 1, function->plain_name);
	return (uint32_t)(names->function_count - 1);
}

void names_add_location(struct names *names, const struct named_location *location)
{
	struct named_location kept = *location;

	kept.file = keep_string(names, intern_string(&names->strings, location->file));
	names->locations = array_grow(names->locations, names->location_count,
				      &names->location_capacity, sizeof *names->locations);
	names->locations[names->location_count++] = kept;
	names->is_sorted = false;
}

struct names_reading {
	struct names *names;
	struct table function_of_id; /* the recording's id to our index + 1 */
	bool is_whole;               /* else a writer begins symbols anew */
	struct error *err;
};

static int read_function(void *context, const struct recording_function *row)
{
	struct names_reading *reading = context;
	uint32_t index = names_add_function(reading->names,
					    &(struct named_function){ .language = row->language,
								      .module = row->module,
								      .name = row->name,
								      .file = row->file,
								      .line = row->line });

	*table_at(&reading->function_of_id, 0, row->id, NULL) = (uint64_t)index + 1;
	return 0;
}

static int read_location(void *context, const struct recording_location *row)
{
	struct names_reading *reading = context;
	uint64_t index = 0;

	if (!table_get(&reading->function_of_id, 0, row->function, &index))
		return error_set(reading->err, -EBADMSG,
				 "the recording is damaged: frame %u names function %u, which "
				 "is not there",
				 row->frame, row->function);
	names_add_location(reading->names, &(struct named_location){
						   .frame = row->frame,
						   .depth = row->depth,
						   .function = (uint32_t)(index - 1),
						   .line = row->line,
						   .file = row->file,
						   .address = row->address,
						   .is_stored = reading->is_whole,
					   });
	return 0;
}

int names_read(struct names *names, struct recording_reader *reader, struct error *err)
{
	struct names_reading reading = {
		.names = names,
		.is_whole = recording_reader_is_symbolized(reader),
		.err = err,
	};
	int rc = recording_reader_each_function(reader, read_function, &reading, err);

	if (rc == 0)
		rc = recording_reader_each_location(reader, read_location, &reading, err);
	table_done(&reading.function_of_id);
	return rc;
}

static int store_location(const struct names *names, const struct named_location *location,
			  struct recording_writer *writer, uint32_t *ids)
{
	const struct named_function *function = &names->functions[location->function];
	uint32_t *id = &ids[location->function];
	int rc = 0;

	if (*id == 0)
		rc = recording_writer_add_function(writer,
						   &(struct recording_function){
							   .language = function->language,
							   .module = function->module,
							   .name = function->name,
							   .file = function->file,
							   .line = function->line,
						   },
						   id);
	if (rc < 0)
		return rc;
	return recording_writer_add_location(writer, &(struct recording_location){
							     .frame = location->frame,
							     .depth = location->depth,
							     .function = *id,
							     .file = location->file,
							     .line = location->line,
							     .address = location->address,
						     });
}

int names_store(const struct names *names, struct recording_writer *writer)
{
	CLEANUP(freep)
	uint32_t *ids = xreallocarray(NULL, names->function_count + 1, sizeof *ids);

	memset(ids, 0, (names->function_count + 1) * sizeof *ids);
	for (size_t i = 0; i < names->location_count; i++) {
		int rc = 0;

		if (!names->locations[i].is_stored)
			rc = store_location(names, &names->locations[i], writer, ids);
		if (rc < 0)
			return rc;
	}
	if (names->unread_lines == NULL)
		return recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	recording_writer_set(writer, KEY_UNREAD_LINES, names->unread_lines);
	return recording_writer_set(writer, KEY_SYMBOLIZED, "names");
}

void names_replace_location(struct names *names, size_t index, size_t first)
{
	struct named_location *locations = names->locations;

	locations[index] = locations[first];
	memmove(&locations[first], &locations[first + 1],
		(--names->location_count - first) * sizeof *locations);
}

static int compare_locations(const void *a, const void *b)
{
	const struct named_location *left = a, *right = b;

	if (left->frame != right->frame)
		return left->frame < right->frame ? -1 : 1;
	return (left->depth > right->depth) - (left->depth < right->depth);
}

/* Two reports that looked up the same recording at once may both have stored their names. */
static void drop_repeated(struct names *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->location_count; i++)
		if (kept == 0 ||
		    compare_locations(&names->locations[kept - 1], &names->locations[i]) != 0)
			names->locations[kept++] = names->locations[i];
	names->location_count = kept;
}

void names_sort(struct names *names)
{
	if (names->location_count)
		qsort(names->locations, names->location_count, sizeof *names->locations,
		      compare_locations);
	drop_repeated(names);
	for (size_t i = 0; i < names->location_count; i++) {
		uint32_t frame = names->locations[i].frame;

		if (i == 0 || names->locations[i - 1].frame != frame)
			*table_at(&names->first_of_frame, 0, frame, NULL) = i + 1;
	}
	names->is_sorted = true;
}

const struct named_location *names_of_frame(const struct names *names, uint32_t frame,
					    size_t *out_count)
{
	uint64_t first = 0;
	size_t count = 0;

	*out_count = 0;
	if (!names->is_sorted || !table_get(&names->first_of_frame, 0, frame, &first))
		return NULL;
	const struct named_location *locations = &names->locations[first - 1];
	size_t left = names->location_count - (size_t)(first - 1);

	while (count < left && locations[count].frame == frame)
		count++;
	*out_count = count;
	return locations;
}
