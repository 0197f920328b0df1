#include "collect/no_sample.h"

#include "abi/walk_status.h"
#include "collect/codes.h"
#include "collect/image.h"
#include "collect/pump.h"
#include "record/writer.h"

static const char *const names[NO_SAMPLE_KINDS] = {
	[NO_SAMPLE_SHORT] = "[shorter than a sampling period]",
	[NO_SAMPLE_LEFT] = "[not sampled]",
};

static uint32_t stack_of(struct pump *pump, enum no_sample_kind kind, uint32_t callers)
{
	struct recording_frame frame;
	struct recording_stack stack = { .parent = callers };
	uint32_t row = 0;

	codes_place_own(&pump->codes, kind, names[kind], &frame);
	recording_writer_add_frame(pump->writer, &frame, &stack.frame);
	recording_writer_add_stack(pump->writer, &stack, &row);
	return row;
}

void no_sample_add(struct pump *pump, const struct image_thread *thread,
		   const struct no_sample *time)
{
	if (time->ns == 0)
		return;
	if (!recording_writer_has_room(pump->writer)) {
		pump->left_out++;
		return;
	}
	recording_writer_add_sample(
		pump->writer,
		&(struct recording_sample){
			.time_ns = time->time_ns > pump->session_start_ns
					   ? (int64_t)(time->time_ns - pump->session_start_ns)
					   : 0,
			.thread = thread->row,
			.stack = stack_of(pump, time->kind, time->callers),
			.ending = WALK_NO_SAMPLE,
			.weight_ns = (int64_t)time->ns,
		});
}

void no_sample_add_rest(struct pump *pump, const struct image *image)
{
	no_sample_add(
		pump, &image->threads[0],
		&(struct no_sample){
			.kind = image->is_rest_long ? NO_SAMPLE_LEFT : NO_SAMPLE_SHORT,
			.time_ns = image->end_ns == UINT64_MAX ? pump->round_ns : image->end_ns,
			.ns = image->rest_ns,
		});
}
