#include "load/interpreters.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "load/fold.h"
#include "profile/profile.h"
#include "record/reader.h"

/* The table has a row for each process: equal ones are shown as one. */
struct reading {
	struct intern strings;
	struct recording_interpreter *rows;
	size_t count, capacity;
	struct table paths; /* a module to its path's id */
	struct folding *folding;
	bool is_any_walked;
};

static const char *keep_string(struct reading *reading, const char *string)
{
	return intern_get(&reading->strings, intern_string(&reading->strings, string), NULL);
}

static int read_interpreter(void *context, const struct recording_interpreter *row)
{
	struct reading *reading = context;
	struct recording_interpreter kept = *row;

	kept.version = keep_string(reading, row->version ? row->version : "?");
	kept.why_not = keep_string(reading, row->why_not);
	reading->is_any_walked |= !row->why_not;
	reading->rows = array_grow(reading->rows, reading->count, &reading->capacity,
				   sizeof *reading->rows);
	reading->rows[reading->count++] = kept;
	return 0;
}

/* The language of the interpreter that is in the module. */
static enum language interpreter_in(const struct reading *reading, uint32_t module)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->rows[i].module == module)
			return (enum language)reading->rows[i].language;
	return LANGUAGE_NATIVE;
}

static int read_module(void *context, const struct recording_module *row)
{
	struct reading *reading = context;

	if (row->kind == MODULE_KIND_JIT)
		folding_add_made(reading->folding, row->id);
	if (row->kind != MODULE_KIND_ELF)
		return 0;
	*table_at(&reading->paths, 0, row->id, NULL) =
		intern_string(&reading->strings, row->path);
	const enum language language = interpreter_in(reading, row->id);

	if (language != LANGUAGE_NATIVE)
		folding_add_interpreter(reading->folding, row->id, language, row->path);
	else
		folding_add_file(reading->folding, row->id, row->path);
	return 0;
}

static const char *path_of(const struct reading *reading, uint32_t module)
{
	uint64_t id = 0;

	table_get(&reading->paths, 0, module, &id);
	const char *path = intern_get(&reading->strings, (uint32_t)id, NULL);

	return path ? path : "[unknown]";
}

/* Strings of the profile are interned: the same text is the same pointer. */
static bool is_same(const struct interpreter *a, const struct interpreter *b)
{
	return a->language == b->language && a->version == b->version && a->path == b->path &&
	       a->why_not == b->why_not;
}

static void add(struct profile *profile, const struct interpreter *interpreter)
{
	struct profile_info *info = profile_info(profile);

	for (size_t i = 0; i < info->interpreter_count; i++) {
		if (is_same(&info->interpreters[i], interpreter)) {
			info->interpreters[i].process_count++;
			return;
		}
	}
	info->interpreters[info->interpreter_count] = *interpreter;
	info->interpreters[info->interpreter_count++].process_count = 1;
}

static void add_all(const struct reading *reading, struct profile *profile)
{
	struct profile_info *info = profile_info(profile);

	info->interpreters =
		profile_alloc(profile, (reading->count + 1) * sizeof *info->interpreters);
	for (size_t i = 0; i < reading->count; i++) {
		const struct recording_interpreter *row = &reading->rows[i];

		add(profile,
		    &(struct interpreter){
			    .language = language_name((enum language)row->language),
			    .version = profile_copy_string(profile, row->version),
			    .path = profile_copy_string(profile, path_of(reading, row->module)),
			    .why_not = profile_copy_string(profile, row->why_not),
		    });
	}
	info->is_folded = reading->is_any_walked && folding_is_on(reading->folding);
}

int interpreters_read(struct recording_reader *reader, struct folding *folding,
		      struct profile *profile, struct error *err)
{
	struct reading reading = { .folding = folding };
	int rc = recording_reader_each_interpreter(reader, read_interpreter, &reading, err);

	if (rc == 0 && reading.count)
		rc = recording_reader_each_module(reader, read_module, &reading, err);
	if (rc == 0)
		add_all(&reading, profile);
	free(reading.rows);
	table_done(&reading.paths);
	intern_done(&reading.strings);
	return rc;
}
