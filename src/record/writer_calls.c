/* Writes traced calls and their costs. */
#include "record/writer_state.h"

#include <errno.h>

#include "record/writer.h"
#include "record/writer_row.h"

static bool is_possible(const struct recording_writer *writer,
			const struct recording_calls *calls)
{
	return !writer->is_reopened && calls->thread != 0 &&
	       calls->thread <= writer->thread_count &&
	       calls->stack <= writer->last_id[TABLE_STACKS] && calls->self_ns >= 0 &&
	       calls->calls <= INT64_MAX;
}

static int write_calls(struct recording_writer *writer, uint32_t id,
		       const struct recording_calls *calls)
{
	struct row row = row_begin(writer, TABLE_CALLS, id);

	row_int(&row, calls->thread);
	row_int(&row, calls->stack);
	row_int(&row, (int64_t)calls->calls);
	row_int(&row, calls->self_ns);
	row_figure(&row, calls->shortest_ns);
	row_figure(&row, calls->longest_ns);
	row_int(&row, calls->kind);
	row_int(&row, (int64_t)calls->misses);
	for (size_t i = 0; i < RECORDING_UNCOUNTED_KINDS; i++)
		row_int(&row, (int64_t)calls->uncounted[i]);
	row_int(&row, calls->left_out_ns);
	return row_end(&row);
}

int recording_writer_add_calls(struct recording_writer *writer,
			       const struct recording_calls *calls, uint32_t *out_id)
{
	if (!is_possible(writer, calls))
		return -EINVAL;
	const uint32_t id = writer_next_id(writer, TABLE_CALLS);
	const int rc = write_calls(writer, id, calls);

	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_update_calls(struct recording_writer *writer,
				  const struct recording_calls *calls)
{
	if (!is_possible(writer, calls) || calls->id == 0 ||
	    calls->id > writer->last_id[TABLE_CALLS])
		return -EINVAL;
	return write_calls(writer, calls->id, calls);
}

static bool has_process(const struct recording_writer *writer,
			const struct recording_cost *cost)
{
	return !writer->is_reopened && cost->process != 0 &&
	       cost->process <= writer->process_count;
}

static int write_cost(struct recording_writer *writer, uint32_t id,
		      const struct recording_cost *cost)
{
	struct row row = row_begin(writer, TABLE_COSTS, id);

	row_int(&row, cost->process);
	row_int(&row, cost->kind);
	row_int(&row, cost->inside_ps);
	row_int(&row, cost->outside_ps);
	row_int(&row, cost->inside_miss_ps);
	row_int(&row, cost->outside_miss_ps);
	row_int(&row, cost->spread_ps);
	row_int(&row, cost->stretch_permille);
	row_figure(&row, cost->pace_permille);
	return row_end(&row);
}

int recording_writer_add_cost(struct recording_writer *writer,
			      const struct recording_cost *cost, uint32_t *out_id)
{
	if (!has_process(writer, cost))
		return -EINVAL;
	const uint32_t id = writer_next_id(writer, TABLE_COSTS);
	const int rc = write_cost(writer, id, cost);

	if (rc == 0)
		*out_id = id;
	return rc;
}

int recording_writer_update_cost(struct recording_writer *writer,
				 const struct recording_cost *cost)
{
	if (!has_process(writer, cost) || cost->id == 0 ||
	    cost->id > writer->last_id[TABLE_COSTS])
		return -EINVAL;
	return write_cost(writer, cost->id, cost);
}
