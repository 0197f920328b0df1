/*
 * Sums the weights by (stack, thread, state), the call times of a trace, and the times of
 * samples.
 */
#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "profile/profile.h"
#include "profile/profile_internal.h"
#include "profile/sum.h"

/* Time without a stack still counts in every sum: it gets a bracketed row of its own. */
static struct stack_id known_stack(struct profile *profile, struct stack_id id)
{
	if (profile_get_stack(profile, id))
		return id;

	struct function_id function =
		profile_add_function(profile, &(struct function){ .language = LANGUAGE_FATHOM,
								  .name = "[no stack]" });
	struct frame_id frame =
		profile_add_frame(profile, &(struct frame){ .function = function });
	return profile_add_stack(profile, (struct stack_id){ 0 }, frame);
}

/* Returns its index. */
static size_t add_weight(struct profile *profile, const struct weight *weight)
{
	struct stack_id stack = known_stack(profile, weight->stack);
	struct thread_id thread = weight->thread;
	if (!profile_get_thread(profile, thread))
		thread = (struct thread_id){ 0 };
	bool is_new;
	uint64_t *place = table_at(&profile->weight_index, (uint64_t)stack.n << 32 | thread.n,
				   (uint64_t)weight->state, &is_new);
	if (is_new) {
		profile->weights =
			array_grow(profile->weights, profile->weight_count,
				   &profile->weight_capacity, sizeof *profile->weights);
		profile->weights[profile->weight_count++] = (struct weight){
			.stack = stack, .thread = thread, .state = weight->state
		};
		*place = profile->weight_count;
	}

	struct weight *sum = &profile->weights[*place - 1];
	sum_add(&sum->ns, weight->ns, &profile->is_saturated);
	sum_add(&sum->samples, weight->samples, &profile->is_saturated);
	sum_add(&sum->calls, weight->calls, &profile->is_saturated);
	return *place - 1;
}

void profile_add_weight(struct profile *profile, const struct weight *weight)
{
	add_weight(profile, weight);
}

double profile_tick_ns(const struct profile *profile)
{
	return profile->info.rate_hz > 0 ? 1e9 / (double)profile->info.rate_hz : HUGE_VAL;
}

/*
 * A tick is certain to see a wait longer than a tick, so only one tick of it counts as sampled.
 */
void profile_add_step(struct profile *profile, const struct weight *weight, int64_t time_ns)
{
	const double tick_ns = profile_tick_ns(profile);
	const bool is_wait = weight->state > THREAD_STATE_RUNNABLE;
	const uint64_t ns =
		is_wait && (double)weight->ns > tick_ns ? (uint64_t)tick_ns : weight->ns;
	uint64_t index = 0;

	if (table_get(&profile->weight_index,
		      (uint64_t)weight->stack.n << 32 | weight->thread.n,
		      (uint64_t)weight->state, &index))
		sequence_add(&profile->sequence, (uint32_t)index - 1, time_ns, ns);
}

void profile_close_sequence(struct profile *profile)
{
	sequence_close(&profile->sequence);
}

const struct sequence *profile_get_sequence(const struct profile *profile)
{
	return &profile->sequence;
}

void profile_add_calls(struct profile *profile, const struct weight *weight,
		       const struct call_times *times)
{
	const size_t index = add_weight(profile, weight);

	while (profile->call_times_count <= index) {
		profile->call_times =
			array_grow(profile->call_times, profile->call_times_count,
				   &profile->call_times_capacity, sizeof *profile->call_times);
		profile->call_times[profile->call_times_count++] =
			(struct known_times){ .times = CALL_TIMES_NONE };
	}
	profile->call_times[index].is_known = true;
	call_times_add(&profile->call_times[index].times, times, &profile->is_saturated);
}

static void keep_time_slots(struct time_slots *time_slots,
			    bool (*keeps)(const void *context, const struct weight *weight),
			    const void *context)
{
	size_t kept = 0;

	table_done(&time_slots->index); /* nothing is added after this */
	for (size_t i = 0; i < time_slots->count; i++) {
		const struct slot_row row = time_slots->rows[i];

		if (keeps(context, &(struct weight){ .stack = row.stack,
						     .thread = row.thread,
						     .state = (enum thread_state)row.state }))
			time_slots->rows[kept++] = row;
	}
	time_slots->count = kept;
}

void profile_keep_weights(struct profile *profile,
			  bool (*keeps)(const void *context, const struct weight *weight),
			  const void *context)
{
	size_t kept = 0, kept_times = 0;

	table_done(&profile->weight_index);
	for (size_t i = 0; i < profile->weight_count; i++) {
		const struct weight weight = profile->weights[i];

		if (!keeps(context, &weight))
			continue;
		if (i < profile->call_times_count)
			profile->call_times[kept_times++] = profile->call_times[i];
		profile->weights[kept++] = weight;
		*table_at(&profile->weight_index,
			  (uint64_t)weight.stack.n << 32 | weight.thread.n,
			  (uint64_t)weight.state, NULL) = kept;
	}
	profile->weight_count = kept;
	profile->call_times_count = kept_times;
	keep_time_slots(&profile->time_slots, keeps, context);
	/* Its rows refer to weights by index, which have changed. */
	sequence_done(&profile->sequence);
}

struct time_slots *profile_time_slots(struct profile *profile)
{
	return &profile->time_slots;
}

const struct time_slots *profile_get_time_slots(const struct profile *profile)
{
	return &profile->time_slots;
}

struct call_times profile_get_call_times(const struct profile *profile, size_t i)
{
	if (i < profile->call_times_count && profile->call_times[i].is_known)
		return profile->call_times[i].times;
	return (struct call_times){ .raw_ns = profile->weights[i].ns,
				    .shortest_ns = UINT64_MAX };
}
