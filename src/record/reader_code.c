/*
 * Reads the rows that stacks refer to: frames, code, functions, locations and copied files.
 * Strings live until the loop's next step.
 */
#include "record/reader_state.h"

#include <string.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/reader.h"

static struct recording_frame frame_of(struct scan *scan)
{
	struct recording_frame frame = {
		.id = (uint32_t)scan->id,
		.module = scan_id(scan, 1, TABLE_MODULES),
		.address = scan_u64(scan, 2),
	};
	return frame;
}

int recording_reader_each_frame(struct recording_reader *reader,
				int (*visit)(void *context, const struct recording_frame *row),
				void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_FRAMES, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_frame row = frame_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_stack stack_of(struct scan *scan)
{
	struct recording_stack stack = { .id = (uint32_t)scan->id,
					 .parent = scan_id(scan, 1, TABLE_STACKS),
					 .frame = scan_id(scan, 2, TABLE_FRAMES) };

	if (stack.parent >= stack.id)
		scan_damage(scan, "has callers that come after it");
	return stack;
}

int recording_reader_each_stack(struct recording_reader *reader,
				int (*visit)(void *context, const struct recording_stack *row),
				void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_STACKS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_stack row = stack_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_code code_of(struct scan *scan)
{
	struct recording_code code = {
		.id = (uint32_t)scan->id,
		.language = scan_u32(scan, 1),
		.name = scan_text(scan, 2),
		.qualified_name = scan_text(scan, 3),
		.file = scan_text(scan, 4),
		.line = scan_u32(scan, 5),
	};
	if (code.name == NULL)
		scan_damage(scan, "has no name");
	return code;
}

int recording_reader_each_code(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_code *row),
			       void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_CODES, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_code row = code_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_function function_of(struct scan *scan)
{
	uint32_t source = scan_id(scan, 4, TABLE_SOURCES);

	struct recording_function function = {
		.id = (uint32_t)scan->id,
		.language = scan_u32(scan, 1),
		.module = scan_id(scan, 2, TABLE_MODULES),
		.name = scan_text(scan, 3),
		.file = source != 0 ? scan->reader->sources[source - 1] : NULL,
		.line = scan_u32(scan, 5),
	};
	if (function.name == NULL)
		scan_damage(scan, "has no name");
	return function;
}

/* Loads the paths once: functions and locations refer to them by id. */
static int load_sources(struct recording_reader *reader, struct error *err)
{
	struct scan scan;

	if (reader->sources != NULL)
		return 0;
	CLEANUP(freep)
	const char **sources =
		xreallocarray(NULL, (size_t)reader->counts[TABLE_SOURCES] + 1, sizeof *sources);
	int rc = scan_begin(&scan, reader, TABLE_SOURCES, 1, err);

	while (scan_next(&scan, &rc)) {
		const char *path = scan_text(&scan, 1);

		if (path == NULL)
			scan_damage(&scan, "has no path");
		if (scan_check(&scan, &rc))
			sources[scan.id - 1] =
				arena_strndup(&reader->arena, path, strlen(path));
	}
	rc = scan_end(&scan, rc);
	if (rc == 0) {
		reader->sources = sources;
		sources = NULL;
	}
	return rc;
}

int recording_reader_each_function(struct recording_reader *reader,
				   int (*visit)(void *context,
						const struct recording_function *row),
				   void *context, struct error *err)
{
	struct scan scan;
	int rc = load_sources(reader, err);

	if (rc < 0)
		return rc;
	rc = scan_begin(&scan, reader, TABLE_FUNCTIONS, 1, err);
	while (scan_next(&scan, &rc)) {
		struct recording_function row = function_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_location location_of(struct scan *scan)
{
	uint32_t source = scan_id(scan, 4, TABLE_SOURCES);

	struct recording_location location = {
		.frame = scan_id(scan, 1, TABLE_FRAMES),
		.depth = scan_u32(scan, 2),
		.function = scan_id(scan, 3, TABLE_FUNCTIONS),
		.file = source != 0 ? scan->reader->sources[source - 1] : NULL,
		.line = scan_u32(scan, 5),
		.address = scan_u64(scan, 6),
	};
	return location;
}

int recording_reader_each_location(struct recording_reader *reader,
				   int (*visit)(void *context,
						const struct recording_location *row),
				   void *context, struct error *err)
{
	struct scan scan;
	int rc = load_sources(reader, err);

	if (rc < 0)
		return rc;
	rc = scan_begin(&scan, reader, TABLE_LOCATIONS, 1, err);
	while (scan_next(&scan, &rc)) {
		struct recording_location row = location_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_file file_of(struct scan *scan)
{
	struct recording_file file = {
		.process = scan_id(scan, 1, TABLE_PROCESSES),
		.path = scan_text(scan, 2),
		.data = sqlite3_column_blob(scan->statement, 3),
		.len = (size_t)sqlite3_column_bytes(scan->statement, 3),
	};
	if (file.path == NULL)
		scan_damage(scan, "has no name");
	return file;
}

int recording_reader_each_file(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_file *row),
			       void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_FILES, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_file row = file_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}
