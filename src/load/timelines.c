#include "load/timelines.h"

#include <stdlib.h>

#include "base/memory.h"
#include "load/blame_terms.h"
#include "load/build_internal.h"
#include "record/reader.h"

/* Half a gigabyte of slices. */
#define MOST_SLICES (16U << 20)

struct reading {
	struct timelines *timelines;
	const struct blame_terms *terms;
};

static struct timeline *timeline_of(const struct reading *reading, uint32_t thread)
{
	struct timelines *timelines = reading->timelines;
	uint64_t *place = table_at(&timelines->by_thread, 0, thread, NULL);

	if (*place == 0) {
		timelines->rows = array_grow(timelines->rows, timelines->count,
					     &timelines->capacity, sizeof *timelines->rows);
		timelines->rows[timelines->count] = (struct timeline){
			.thread = { build_id_of(reading->terms->threads, thread) }
		};
		*place = ++timelines->count;
	}
	return &timelines->rows[*place - 1];
}

static bool is_own(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);
	const struct frame *frame = stack ? profile_get_frame(profile, stack->frame) : NULL;
	const struct function *function =
		frame ? profile_get_function(profile, frame->function) : NULL;

	return function && function->language == LANGUAGE_FATHOM;
}

static struct stack_id stack_of(const struct blame_terms *terms, uint32_t row)
{
	return row != 0 && row <= terms->stack_count ? terms->stacks[row - 1]
						     : (struct stack_id){ 0 };
}

static int take_sample(void *context, const struct recording_sample *row)
{
	const struct reading *reading = context;
	struct timelines *timelines = reading->timelines;
	const struct blame_terms *terms = reading->terms;
	const struct stack_id stack = stack_of(terms, row->stack);

	if (timelines->slices == MOST_SLICES) {
		timelines->is_cut = true;
		return 0;
	}
	struct timeline *timeline = timeline_of(reading, row->thread);

	timeline->slices = array_grow(timeline->slices, timeline->count, &timeline->capacity,
				      sizeof *timeline->slices);
	timeline->slices[timeline->count++] = (struct slice){
		.end_ns = row->time_ns,
		.ns = row->weight_ns,
		.stack = stack,
		.state = row->state < THREAD_STATE_COUNT ? row->state : THREAD_STATE_RUNNING,
		.is_own = is_own(terms->profile, stack),
	};
	timelines->slices++;
	if (row->state != THREAD_STATE_RUNNING)
		return 0;
	timelines->running =
		array_grow(timelines->running, timelines->running_count,
			   &timelines->running_capacity, sizeof *timelines->running);
	timelines->running[timelines->running_count++] =
		(struct running){ row->time_ns, row->weight_ns, timeline->thread, stack };
	if (row->weight_ns > timelines->longest_running_ns)
		timelines->longest_running_ns = row->weight_ns;
	return 0;
}

static int take_owner(void *context, const struct recording_owner *row)
{
	const struct reading *reading = context;
	struct timeline *timeline = timeline_of(reading, row->thread);

	timeline->marks = array_grow(timeline->marks, timeline->mark_count,
				     &timeline->mark_capacity, sizeof *timeline->marks);
	timeline->marks[timeline->mark_count++] =
		(struct owner_mark){ row->time_ns, row->owner,
				     stack_of(reading->terms, row->stack),
				     stack_of(reading->terms, row->owner_stack) };
	return 0;
}

static int order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_slices(const void *a, const void *b)
{
	return order(((const struct slice *)a)->end_ns, ((const struct slice *)b)->end_ns);
}

static int compare_marks(const void *a, const void *b)
{
	return order(((const struct owner_mark *)a)->time_ns,
		     ((const struct owner_mark *)b)->time_ns);
}

static int compare_running(const void *a, const void *b)
{
	return order(((const struct running *)a)->end_ns, ((const struct running *)b)->end_ns);
}

int timelines_read(struct recording_reader *reader, const struct blame_terms *terms,
		   struct timelines *out, struct error *err)
{
	struct reading reading = { out, terms };
	int rc = recording_reader_each_sample(reader, take_sample, &reading, err);

	if (rc == 0)
		rc = recording_reader_each_owner(reader, take_owner, &reading, err);
	for (size_t i = 0; i < out->count; i++) {
		struct timeline *timeline = &out->rows[i];

		if (timeline->count > 0)
			qsort(timeline->slices, timeline->count, sizeof *timeline->slices,
			      compare_slices);
		if (timeline->mark_count > 0)
			qsort(timeline->marks, timeline->mark_count, sizeof *timeline->marks,
			      compare_marks);
	}
	if (out->running_count > 0)
		qsort(out->running, out->running_count, sizeof *out->running, compare_running);
	return rc;
}

void timelines_done(struct timelines *timelines)
{
	for (size_t i = 0; i < timelines->count; i++) {
		free(timelines->rows[i].slices);
		free(timelines->rows[i].marks);
	}
	free(timelines->rows);
	free(timelines->running);
	table_done(&timelines->by_thread);
	*timelines = (struct timelines){ 0 };
}

const struct timeline *timelines_find(const struct timelines *timelines, uint32_t thread)
{
	const uint32_t row = build_id_of(&timelines->by_thread, thread);

	return row != 0 ? &timelines->rows[row - 1] : NULL;
}

size_t timelines_find_running(const struct timelines *timelines, int64_t time_ns)
{
	size_t low = 0, high = timelines->running_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (timelines->running[middle].end_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

size_t timeline_find(const struct timeline *timeline, int64_t time_ns)
{
	size_t low = 0, high = timeline->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (timeline->slices[middle].end_ns >= time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
