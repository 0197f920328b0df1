#include "load/build_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "load/correction.h"
#include "load/cpu_account.h"
#include "record/reader.h"

struct calls_builder {
	const struct build_calls_terms *terms;
	struct error *err;
	struct call_row *rows;
	size_t count, capacity;
	struct recording_cost *costs;
	size_t cost_count, cost_capacity;
	struct table processes; /* of threads, by the recording's ids */
	uint32_t *parents;      /* of stacks, by id - 1 */
};

static int read_cost(void *context, const struct recording_cost *row)
{
	struct calls_builder *builder = context;

	builder->costs = array_grow(builder->costs, builder->cost_count,
				    &builder->cost_capacity, sizeof *builder->costs);
	builder->costs[builder->cost_count++] = *row;
	return 0;
}

static int read_thread(void *context, const struct recording_thread *row)
{
	struct calls_builder *builder = context;

	*table_at(&builder->processes, 0, row->id, NULL) = row->process;
	return 0;
}

static int read_stack(void *context, const struct recording_stack *row)
{
	struct calls_builder *builder = context;

	if (row->id <= builder->terms->stack_count)
		builder->parents[row->id - 1] = row->parent;
	return 0;
}

static struct thread_id thread_of(const struct calls_builder *builder,
				  const struct recording_calls *row)
{
	uint64_t id = 0;

	table_get(builder->terms->threads, 0, row->thread, &id);
	return (struct thread_id){ (uint32_t)id };
}

static struct stack_id stack_of(const struct calls_builder *builder,
				const struct recording_calls *row)
{
	const struct build_calls_terms *terms = builder->terms;

	return row->stack != 0 && row->stack <= terms->stack_count
		       ? terms->stacks[row->stack - 1]
		       : (struct stack_id){ 0 };
}

static int damaged(struct calls_builder *builder, const struct recording_calls *row,
		   const char *missing, uint32_t id)
{
	return error_set(builder->err, -EBADMSG,
			 "the recording is damaged: calls %" PRIu32 " names %s %" PRIu32
			 ", which is not there",
			 row->id, missing, id);
}

static int read_calls(void *context, const struct recording_calls *row)
{
	struct calls_builder *builder = context;
	uint64_t process = 0;

	if (!thread_of(builder, row).n)
		return damaged(builder, row, "thread", row->thread);
	if (row->stack && !stack_of(builder, row).n && builder->terms->is_left_out == NULL)
		return damaged(builder, row, "stack", row->stack);
	table_get(&builder->processes, 0, row->thread, &process);
	builder->rows = array_grow(builder->rows, builder->count, &builder->capacity,
				   sizeof *builder->rows);
	builder->rows[builder->count++] = (struct call_row){
		.calls = *row,
		.process = (uint32_t)process,
		.parent_stack = row->stack ? builder->parents[row->stack - 1] : 0,
	};
	return 0;
}

static int read_all(struct calls_builder *builder, struct recording_reader *reader)
{
	struct error *err = builder->err;
	int rc = recording_reader_each_cost(reader, read_cost, builder, err);

	if (rc == 0)
		rc = recording_reader_each_thread(reader, read_thread, builder, err);
	if (rc == 0)
		rc = recording_reader_each_stack(reader, read_stack, builder, err);
	if (rc == 0)
		rc = recording_reader_each_calls(reader, read_calls, builder, err);
	return rc;
}

static uint64_t figure_of(int64_t ns, uint64_t otherwise)
{
	return ns >= 0 ? (uint64_t)ns : otherwise;
}

/* Whether the row's function is left out; its time is another function's then. */
static bool is_left_out(const struct build_calls_terms *terms, uint32_t stack)
{
	return stack == 0 || stack > terms->stack_count ||
	       (terms->is_left_out != NULL && terms->is_left_out[stack - 1]);
}

/*
 * Whether the row was folded into its caller's stack (load/fold.h): an interpreter that is
 * built with hooks has calls of its own functions, too, which do not count as calls of the
 * function that they are folded into.
 */
static bool is_folded(const struct calls_builder *builder, const struct call_row *row)
{
	const struct stack_id *stacks = builder->terms->stacks;

	return row->calls.stack != 0 && row->parent_stack != 0 &&
	       stacks[row->calls.stack - 1].n == stacks[row->parent_stack - 1].n;
}

static void add_row(const struct calls_builder *builder, const struct call_row *row)
{
	struct profile *profile = builder->terms->profile;
	struct profile_info *info = profile_info(profile);
	const bool has_calls =
		!is_left_out(builder->terms, row->calls.stack) && !is_folded(builder, row);
	const struct stack_id stack = stack_of(builder, &row->calls);
	const struct weight weight = {
		.stack = stack.n != 0
				 ? stack
				 : cpu_account_add_stack(profile, "[outside of traced calls]"),
		.thread = thread_of(builder, &row->calls),
		.ns = figure_of(row->ns, 0),
		.calls = has_calls ? row->calls.calls : 0,
	};
	const struct call_times times = {
		.raw_ns = figure_of(row->calls.self_ns, 0),
		.uncertainty_ns = figure_of(row->uncertainty_ns, 0),
		.shortest_ns = has_calls ? figure_of(row->shortest_ns, UINT64_MAX) : UINT64_MAX,
		.longest_ns = has_calls ? figure_of(row->longest_ns, 0) : 0,
	};

	if (__builtin_add_overflow(info->sampled_ns, weight.ns, &info->sampled_ns))
		info->sampled_ns = FIGURE_UNKNOWN - 1;
	info->calls += weight.calls;
	profile_add_calls(profile, &weight, &times);
}

static void add_all(struct calls_builder *builder)
{
	const bool is_raw = builder->terms->has_raw_times;
	struct profile_info *info = profile_info(builder->terms->profile);
	struct correction correction;

	correction_make(builder->rows, builder->count, builder->costs, builder->cost_count,
			is_raw, &correction);
	for (size_t i = 0; i < builder->count; i++)
		add_row(builder, &builder->rows[i]);
	info->is_corrected = !is_raw && builder->cost_count > 0;
	info->raw_ns = correction.raw_ns;
	info->measuring_ns = correction.removed_ns;
	info->uncertainty_ns = correction.uncertainty_ns;
	info->clipped_ns = correction.clipped_ns;
	info->left_out_ns = correction.left_out_ns;
	info->unknown_calls = correction.unknown_calls;
	info->slowdown = correction.slowdown;
}

int build_calls(struct recording_reader *reader, const struct build_calls_terms *terms,
		struct error *err)
{
	struct calls_builder builder = { .terms = terms, .err = err };

	if (!recording_reader_has_calls(reader))
		return 0;
	builder.parents = xzalloc((terms->stack_count + 1) * sizeof *builder.parents);
	const int rc = read_all(&builder, reader);

	if (rc == 0)
		add_all(&builder);
	table_done(&builder.processes);
	free(builder.parents);
	free(builder.costs);
	free(builder.rows);
	return rc;
}
