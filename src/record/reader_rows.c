/*
 * Reads the rows about processes (threads, modules, mappings, …) as structs. Strings live until
 * the loop's next step.
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
		scan_damage(scan, "has an unknown kind");
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

/* 0 where the recording's version has no such column. */
static uint32_t stack_of(struct scan *scan, int column)
{
	return scan_figure(scan, column) == RECORDING_UNKNOWN
		       ? 0
		       : scan_id(scan, column, TABLE_STACKS);
}

static struct recording_owner owner_of(struct scan *scan)
{
	struct recording_owner owner = {
		.time_ns = scan_figure(scan, 1),
		.thread = scan_id(scan, 2, TABLE_THREADS),
		.owner = scan_id(scan, 3, TABLE_THREADS),
		.stack = stack_of(scan, 4),
		.owner_stack = stack_of(scan, 5),
	};

	if (owner.thread == 0)
		scan_damage(scan, "has no thread");
	return owner;
}

int recording_reader_each_owner(struct recording_reader *reader,
				int (*visit)(void *context, const struct recording_owner *row),
				void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_OWNERS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_owner row = owner_of(&scan);

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
