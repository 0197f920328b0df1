#include "load/build.h"

#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "load/blame.h"
#include "load/blame_terms.h"
#include "load/build_calls.h"
#include "load/build_internal.h"
#include "load/build_processes.h"
#include "load/build_stacks.h"
#include "load/cpu_account.h"
#include "profile/blame.h"
#include "profile/time_slots.h"
#include "profile/profile.h"
#include "record/reader.h"

struct builder {
	struct profile *profile;
	struct error *err;
	bool has_raw_times, has_time_slots, wants_blame;
	struct build_stacks stacks;
	struct table threads; /* the recording's ids to the profile's */
};

/*
 * The part of the account that a stack's time belongs to; a row of fathom's own is no sample.
 */
static uint64_t *part_of(struct profile *profile, struct stack_id stack)
{
	struct profile_info *info = profile_info(profile);

	if (!stack.n)
		return &info->sampled_ns;
	const struct frame *leaf =
		profile_get_frame(profile, profile_get_stack(profile, stack)->frame);
	const struct function *function = profile_get_function(profile, leaf->function);

	if (function->language != LANGUAGE_FATHOM)
		return &info->sampled_ns;
	return strcmp(function->name, "[lost]") == 0 ? &info->lost_ns : &info->thread_only_ns;
}

static enum thread_state state_of(uint32_t state)
{
	return state < THREAD_STATE_COUNT ? (enum thread_state)state : THREAD_STATE_RUNNING;
}

static int read_sum(void *context, const struct recording_sum *row)
{
	struct builder *builder = context;
	struct profile_info *info = profile_info(builder->profile);
	struct thread_id thread = { build_id_of(&builder->threads, row->thread) };
	struct stack_id stack = build_stack_of(&builder->stacks, row->stack);
	uint64_t ns = row->weight_ns > 0 ? (uint64_t)row->weight_ns : 0;

	if (!thread.n)
		return build_damaged(builder->err, "a sum of thread", row->thread, "thread",
				     row->thread);
	if (row->stack && !stack.n)
		return build_damaged(builder->err, "a sum of thread", row->thread, "stack",
				     row->stack);
	uint64_t *part = part_of(builder->profile, stack);
	const bool is_sampled = part == &info->sampled_ns;

	if (__builtin_add_overflow(*part, ns, part))
		*part = FIGURE_UNKNOWN - 1;
	if (!stack.n) {
		cpu_account_add_row(builder->profile, thread, "[stack lost]", ns, row->samples);
		return 0;
	}
	profile_add_weight(builder->profile, &(struct weight){
						     .stack = stack,
						     .thread = thread,
						     .state = state_of(row->state),
						     .ns = ns,
						     .samples = is_sampled ? row->samples : 0,
					     });
	return 0;
}

/* A sample without a stack is a row of the account, which has no place in time. */
static int read_slot_row(void *context, const struct recording_sample *row)
{
	struct builder *builder = context;
	const struct stack_id stack = build_stack_of(&builder->stacks, row->stack);
	const bool is_sampled =
		part_of(builder->profile, stack) == &profile_info(builder->profile)->sampled_ns;
	const struct slot_row slot_row = {
		.stack = stack,
		.thread = { build_id_of(&builder->threads, row->thread) },
		.state = state_of(row->state),
		.ns = row->weight_ns > 0 ? (uint64_t)row->weight_ns : 0,
		.samples = is_sampled,
	};

	if (!slot_row.stack.n || row->time_ns < 0)
		return 0;
	if (slot_row.state == THREAD_STATE_RUNNING)
		time_slots_add(profile_time_slots(builder->profile), (uint64_t)row->time_ns,
			       &slot_row);
	else
		time_slots_add_wait(profile_time_slots(builder->profile),
				    (uint64_t)row->time_ns, &slot_row);
	return 0;
}

static int read_time_slots(struct builder *builder, struct recording_reader *reader)
{
	const uint64_t wall_ns = profile_info(builder->profile)->wall_ns;

	if (!builder->has_time_slots || wall_ns == 0 || wall_ns == FIGURE_UNKNOWN)
		return 0;
	time_slots_begin(profile_time_slots(builder->profile), wall_ns);
	return recording_reader_each_sample(reader, read_slot_row, builder, builder->err);
}

/* Rows of fathom's own, as [lost], are no samples: their times are not used. */
static int read_step(void *context, const struct recording_sample *row, uint64_t samples)
{
	struct builder *builder = context;
	struct profile_info *info = profile_info(builder->profile);
	const struct stack_id stack = build_stack_of(&builder->stacks, row->stack);

	(void)samples;
	if (stack.n && part_of(builder->profile, stack) == &info->sampled_ns)
		profile_add_step(
			builder->profile,
			&(struct weight){
				.stack = stack,
				.thread = { build_id_of(&builder->threads, row->thread) },
				.state = state_of(row->state),
				.ns = row->weight_ns > 0 ? (uint64_t)row->weight_ns : 0,
			},
			row->time_ns);
	return 0;
}

static int read_blame(struct builder *builder, struct recording_reader *reader)
{
	struct profile *profile = builder->profile;
	struct blames *blames = profile_alloc(profile, sizeof *blames);
	const struct blame_terms terms = { profile, &builder->threads, builder->stacks.ids,
					   builder->stacks.count };
	const int rc = blame_read(reader, &terms, profile, blames, builder->err);

	if (rc == 0)
		profile_info(profile)->blames = blames;
	return rc;
}

/* Reads the tables in an order in which rows refer to earlier ones. */
static int build(struct builder *builder, struct recording_reader *reader)
{
	struct error *err = builder->err;
	int rc = build_stacks_modules(&builder->stacks, reader);

	if (rc == 0)
		rc = build_processes(reader, builder->profile, &builder->threads, err);
	if (rc == 0)
		rc = build_stacks_read(&builder->stacks, reader);
	if (rc == 0)
		rc = recording_reader_each_sum(reader, read_sum, builder, err);
	if (rc == 0)
		rc = read_time_slots(builder, reader);
	if (rc == 0)
		rc = recording_reader_each_step(reader, read_step, builder, err);
	if (rc == 0)
		rc = build_calls(reader,
				 &(struct build_calls_terms){
					 .profile = builder->profile,
					 .threads = &builder->threads,
					 .stacks = builder->stacks.ids,
					 .stack_count = builder->stacks.count,
					 .is_left_out = builder->stacks.is_left_out,
					 .has_raw_times = builder->has_raw_times,
				 },
				 err);
	if (rc == 0 && builder->wants_blame)
		rc = read_blame(builder, reader);
	return rc;
}

int build_profile(struct recording_reader *reader, const struct build_terms *terms,
		  struct profile *profile, struct error *err)
{
	struct builder builder = { .profile = profile,
				   .err = err,
				   .has_raw_times = terms->has_raw_times,
				   .wants_blame = terms->wants_blame,
				   .has_time_slots = terms->has_time_slots,
				   .stacks = { .profile = profile,
					       .names = terms->names,
					       .folding = terms->folding,
					       .err = err } };

	build_stacks_begin(&builder.stacks);
	cpu_account_open(profile);
	int rc = build(&builder, reader);

	cpu_account_close(profile);
	profile_close_sequence(profile);
	build_stacks_done(&builder.stacks);
	table_done(&builder.threads);
	return rc;
}
