/*
 * The rows of each table as structs.  Strings live until the loop's next step.
 */
#include "record/reader_state.h"

#include <string.h>

#include "base/memory.h"
#include "record/journal.h"
#include "record/reader.h"

static struct recording_process process_of(struct scan *scan)
{
	struct recording_process process = {
		.id = (uint32_t)scan->id,
		.parent = scan_id(scan, 1, TABLE_PROCESSES),
		.pid = (int)scan_figure(scan, 2),
		.name = scan_text(scan, 3),
		.exe = scan_text(scan, 4),
		.start_ns = scan_figure(scan, 5),
		.end_ns = scan_figure(scan, 6),
		.period_ns = scan_figure(scan, 7),
		.unentered_reason = scan_text(scan, 9),
		.exit_status = (int)scan_figure(scan, 10),
		.title = scan_text(scan, 11),
	};
	return process;
}

int recording_reader_each_process(struct recording_reader *reader,
				  int (*visit)(void *context,
					       const struct recording_process *row),
				  void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_PROCESSES, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_process row = process_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_thread thread_of(struct scan *scan)
{
	struct recording_thread thread = {
		.id = (uint32_t)scan->id,
		.process = scan_id(scan, 1, TABLE_PROCESSES),
		.tid = (int)scan_figure(scan, 2),
		.name = scan_text(scan, 3),
		.start_ns = scan_figure(scan, 4),
		.end_ns = scan_figure(scan, 5),
		.cpu_ns = scan_figure(scan, 6),
		.startup_ns = scan_figure(scan, 7),
		.exit_ns = scan_figure(scan, 8),
		.unentered_ns = scan_figure(scan, 9),
		.kernel_unsampled_ns = scan_figure(scan, 10),
		.traced_ns = scan_figure(scan, 11),
	};
	return thread;
}

int recording_reader_each_thread(struct recording_reader *reader,
				 int (*visit)(void *context,
					      const struct recording_thread *row),
				 void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_THREADS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_thread row = thread_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_module module_of(struct scan *scan)
{
	struct recording_module module = { .id = (uint32_t)scan->id,
					   .path = scan_text(scan, 2) };
	uint32_t kind = scan_u32(scan, 1);
	int len = sqlite3_column_bytes(scan->statement, 3);

	module.kind = (enum module_kind)kind;
	if (kind > MODULE_KIND_INTERPRETED)
		scan_damage(scan, "has a kind that there is not");
	if ((size_t)len > sizeof module.build_id) {
		scan_damage(scan, "has a build id that is too long");
		return module;
	}
	if (len > 0)
		memcpy(module.build_id, sqlite3_column_blob(scan->statement, 3), (size_t)len);
	module.build_id_len = (uint8_t)len;
	return module;
}

int recording_reader_each_module(struct recording_reader *reader,
				 int (*visit)(void *context,
					      const struct recording_module *row),
				 void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_MODULES, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_module row = module_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

static struct recording_mapping mapping_of(struct scan *scan)
{
	struct recording_mapping mapping = {
		.process = scan_id(scan, 1, TABLE_PROCESSES),
		.module = scan_id(scan, 2, TABLE_MODULES),
		.start = scan_u64(scan, 3),
		.end = scan_u64(scan, 4),
		.file_offset = scan_u64(scan, 5),
		.from_ns = scan_figure(scan, 6),
		.to_ns = scan_figure(scan, 7),
	};
	return mapping;
}

int recording_reader_each_mapping(struct recording_reader *reader,
				  int (*visit)(void *context,
					       const struct recording_mapping *row),
				  void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_MAPPINGS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_mapping row = mapping_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

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

static struct recording_interpreter interpreter_of(struct scan *scan)
{
	struct recording_interpreter interpreter = {
		.id = (uint32_t)scan->id,
		.process = scan_id(scan, 1, TABLE_PROCESSES),
		.module = scan_id(scan, 2, TABLE_MODULES),
		.language = scan_u32(scan, 3),
		.version = scan_text(scan, 4),
		.why_not = scan_text(scan, 5),
	};
	return interpreter;
}

int recording_reader_each_interpreter(struct recording_reader *reader,
				      int (*visit)(void *context,
						   const struct recording_interpreter *row),
				      void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_INTERPRETERS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_interpreter row = interpreter_of(&scan);

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

/* Loaded once: functions and locations name them by id. */
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

int recording_reader_each_lost(struct recording_reader *reader,
			       int (*visit)(void *context, const char *reason,
					    uint64_t samples),
			       void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_LOST, 1, err);

	while (scan_next(&scan, &rc)) {
		const char *reason = scan_text(&scan, 1);
		uint64_t samples = scan_u64(&scan, 2);

		if (reason == NULL)
			scan_damage(&scan, "has no reason");
		if (scan_check(&scan, &rc))
			rc = visit(context, reason, samples);
	}
	return scan_end(&scan, rc);
}

static int visit_missing_journal(const struct recording_reader *reader,
				 int (*visit)(void *context, const char *text), void *context)
{
	CLEANUP(freep)
	char *text = xasprintf("the journal %s" JOURNAL_WAL
			       " was not beside the recording: its last seconds, or "
			       "more, are missing",
			       reader->probe.path);

	return visit(context, text);
}

int recording_reader_each_note(struct recording_reader *reader,
			       int (*visit)(void *context, const char *text), void *context,
			       struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_NOTES, 1, err);

	while (scan_next(&scan, &rc)) {
		const char *text = scan_text(&scan, 1);

		if (text == NULL)
			scan_damage(&scan, "has no text");
		if (scan_check(&scan, &rc))
			rc = visit(context, text);
	}
	rc = scan_end(&scan, rc);
	if (rc == 0 && reader->is_journal_missing)
		rc = visit_missing_journal(reader, visit, context);
	return rc;
}
