/* Writes processes, threads, modules, mappings, frames and stacks. */
#include "record/writer_state.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "record/writer.h"
#include "record/writer_row.h"

uint32_t writer_next_id(struct recording_writer *writer, enum recording_table table)
{
	if (writer->last_id[table] == UINT32_MAX)
		writer_fail(writer, -EOVERFLOW, "there are more rows than can be counted");
	else
		writer->last_id[table]++;
	return writer->last_id[table];
}

static int write_process(struct recording_writer *writer, uint32_t id,
			 const struct recording_process *process)
{
	struct row row = row_begin(writer, TABLE_PROCESSES, id);

	row_int(&row, process->parent);
	row_int(&row, process->pid);
	row_text(&row, process->name);
	row_text(&row, process->exe);
	row_figure(&row, process->start_ns);
	row_figure(&row, process->end_ns);
	row_figure(&row, process->period_ns);
	row_figure(&row, writer->processes[id - 1].sample_weight_ns);
	row_text(&row, process->unentered_reason);
	row_int(&row, process->exit_status);
	row_text(&row, process->title);
	return row_end(&row);
}

int recording_writer_add_process(struct recording_writer *writer,
				 const struct recording_process *process, uint32_t *out_id)
{
	if (writer->is_reopened || process->parent > writer->process_count)
		return -EINVAL;
	uint32_t id = writer_next_id(writer, TABLE_PROCESSES);

	writer->processes = array_grow(writer->processes, writer->process_count,
				       &writer->process_capacity, sizeof *writer->processes);
	writer->processes[writer->process_count++] =
		(struct writer_process){ .period_ns = process->period_ns,
					 .sample_weight_ns = RECORDING_UNKNOWN };
	int rc = write_process(writer, id, process);
	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_update_process(struct recording_writer *writer,
				    const struct recording_process *process)
{
	if (process->id == 0 || process->id > writer->process_count ||
	    process->parent > writer->process_count)
		return -EINVAL;
	writer->processes[process->id - 1].period_ns = process->period_ns;
	return write_process(writer, process->id, process);
}

static int write_thread(struct recording_writer *writer, uint32_t id,
			const struct recording_thread *thread)
{
	struct row row = row_begin(writer, TABLE_THREADS, id);

	row_int(&row, thread->process);
	row_int(&row, thread->tid);
	row_text(&row, thread->name);
	row_figure(&row, thread->start_ns);
	row_figure(&row, thread->end_ns);
	row_figure(&row, thread->cpu_ns);
	row_figure(&row, thread->startup_ns);
	row_figure(&row, thread->exit_ns);
	row_figure(&row, thread->unentered_ns);
	row_figure(&row, thread->kernel_unsampled_ns);
	row_figure(&row, thread->traced_ns);
	return row_end(&row);
}

int recording_writer_add_thread(struct recording_writer *writer,
				const struct recording_thread *thread, uint32_t *out_id)
{
	if (writer->is_reopened || thread->process == 0 ||
	    thread->process > writer->process_count)
		return -EINVAL;
	uint32_t id = writer_next_id(writer, TABLE_THREADS);

	writer->thread_processes =
		array_grow(writer->thread_processes, writer->thread_count,
			   &writer->thread_capacity, sizeof *writer->thread_processes);
	writer->thread_processes[writer->thread_count++] = thread->process;
	int rc = write_thread(writer, id, thread);
	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_update_thread(struct recording_writer *writer,
				   const struct recording_thread *thread)
{
	if (thread->id == 0 || thread->id > writer->thread_count ||
	    thread->process != writer->thread_processes[thread->id - 1])
		return -EINVAL;
	return write_thread(writer, thread->id, thread);
}

/* The cached id of a module with contents of its own, as opposed to one process's memory. */
static uint64_t *place_of_module(struct recording_writer *writer,
				 const struct recording_module *module)
{
	struct text key = { 0 };

	if (module->kind == MODULE_KIND_JIT || module->kind == MODULE_KIND_UNKNOWN)
		return NULL;
	text_addf(&key, "%d %d ", (int)module->kind, module->build_id_len);
	text_add_bytes(&key, module->build_id, module->build_id_len);
	text_add(&key, module->path != NULL ? module->path : "");
	uint32_t content = intern_add(&writer->modules, key.data, key.len);
	text_done(&key);
	return table_at(&writer->module_ids, 0, content, NULL);
}

int recording_writer_add_module(struct recording_writer *writer,
				const struct recording_module *module, uint32_t *out_id)
{
	if (writer->is_reopened || module->build_id_len > sizeof module->build_id ||
	    module->kind > MODULE_KIND_INTERPRETED)
		return -EINVAL;
	uint64_t *place = place_of_module(writer, module);

	if (place != NULL && *place != 0) {
		*out_id = (uint32_t)*place;
		return writer_rc(writer);
	}
	uint32_t id = writer_next_id(writer, TABLE_MODULES);
	struct row row = row_begin(writer, TABLE_MODULES, id);

	if (place != NULL)
		*place = id;
	row_int(&row, module->kind);
	row_text(&row, module->path);
	if (module->build_id_len > 0)
		row_blob(&row, module->build_id, module->build_id_len);
	else
		row_figure(&row, RECORDING_UNKNOWN);
	int rc = row_end(&row);
	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_add_mapping(struct recording_writer *writer,
				 const struct recording_mapping *mapping, uint32_t *out_id)
{
	if (writer->is_reopened || mapping->process > writer->process_count ||
	    mapping->module > writer->last_id[TABLE_MODULES])
		return -EINVAL;
	uint32_t id = writer_next_id(writer, TABLE_MAPPINGS);
	struct row row = row_begin(writer, TABLE_MAPPINGS, id);

	row_int(&row, mapping->process);
	row_int(&row, mapping->module);
	row_int(&row, (int64_t)mapping->start);
	row_int(&row, (int64_t)mapping->end);
	row_int(&row, (int64_t)mapping->file_offset);
	row_figure(&row, mapping->from_ns);
	row_figure(&row, mapping->to_ns);
	int rc = row_end(&row);
	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_end_mapping(struct recording_writer *writer, uint32_t id, int64_t to_ns)
{
	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (writer->is_reopened || id == 0 || id > writer->last_id[TABLE_MAPPINGS])
		return -EINVAL;
	CLEANUP(freep)
	char *sql =
		xasprintf("UPDATE mappings SET to_ns=%lld WHERE id=%u", (long long)to_ns, id);
	return writer_run(writer, sql);
}

/*
 * Writes a row of two ids (or an id and an address); the same content gives the same id, unless
 * it was unused for long.
 */
static int add_pair(struct recording_writer *writer, enum recording_table table,
		    struct recent *known, uint64_t first, uint64_t second, uint32_t *out_id)
{
	bool is_new;

	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	uint64_t *place = recent_at(known, first, second, &is_new);
	if (is_new) {
		*place = writer_next_id(writer, table);
		struct row row = row_begin(writer, table, (int64_t)*place);

		row_int(&row, (int64_t)first);
		row_int(&row, (int64_t)second);
		if (row_end(&row) < 0)
			return writer_rc(writer);
	}
	*out_id = (uint32_t)*place;
	return 0;
}

int recording_writer_add_frame(struct recording_writer *writer,
			       const struct recording_frame *frame, uint32_t *out_id)
{
	if (writer->is_reopened || frame->module > writer->last_id[TABLE_MODULES])
		return -EINVAL;
	return add_pair(writer, TABLE_FRAMES, &writer->frames, frame->module, frame->address,
			out_id);
}

int recording_writer_add_stack(struct recording_writer *writer,
			       const struct recording_stack *stack, uint32_t *out_id)
{
	if (writer->is_reopened || stack->parent > writer->last_id[TABLE_STACKS] ||
	    stack->frame == 0 || stack->frame > writer->last_id[TABLE_FRAMES])
		return -EINVAL;
	return add_pair(writer, TABLE_STACKS, &writer->stacks, stack->parent, stack->frame,
			out_id);
}

int recording_writer_add_owner(struct recording_writer *writer,
			       const struct recording_owner *owner)
{
	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (writer->is_reopened || owner->thread == 0 || owner->thread > writer->thread_count ||
	    owner->owner > writer->thread_count ||
	    owner->stack > writer->last_id[TABLE_STACKS] ||
	    owner->owner_stack > writer->last_id[TABLE_STACKS])
		return -EINVAL;
	struct row row = row_begin(writer, TABLE_OWNERS, writer_next_id(writer, TABLE_OWNERS));

	row_int(&row, owner->time_ns);
	row_int(&row, owner->thread);
	row_int(&row, owner->owner);
	row_int(&row, owner->stack);
	row_int(&row, owner->owner_stack);
	return row_end(&row);
}

int recording_writer_add_lost(struct recording_writer *writer, const char *reason,
			      uint64_t samples)
{
	uint32_t id = intern_string(&writer->reasons, reason);

	if (writer->is_reopened || id == 0)
		return -EINVAL;
	if (id > writer->lost_count) {
		writer->lost = array_grow(writer->lost, writer->lost_count,
					  &writer->lost_capacity, sizeof *writer->lost);
		writer->lost[writer->lost_count++] = 0;
	}
	writer->lost[id - 1] += samples;
	struct row row = row_begin(writer, TABLE_LOST, id);

	row_text(&row, reason);
	row_int(&row, (int64_t)writer->lost[id - 1]);
	return row_end(&row);
}

int recording_writer_add_file(struct recording_writer *writer, uint32_t process,
			      const char *path, const void *data, size_t len)
{
	if (writer->is_reopened || process > writer->process_count)
		return -EINVAL;
	if (len + strlen(path) + 64 > writer->max_value_bytes)
		return -EFBIG;
	struct row row = row_begin(writer, TABLE_FILES, writer_next_id(writer, TABLE_FILES));

	row_int(&row, process);
	row_text(&row, path);
	row_blob(&row, data, len);
	return row_end(&row);
}
