#include "collect/no_sample.h"

#include "abi/walk_status.h"
#include "collect/codes.h"
#include "collect/image.h"
#include "collect/wall.h"
#include "record/writer.h"

static const char *const names[NO_SAMPLE_KINDS] = {
	[NO_SAMPLE_SHORT] = "[shorter than a sampling period]",
	[NO_SAMPLE_LEFT] = "[not sampled]",
	[NO_SAMPLE_LOST] = "[lost]",
};

static uint32_t stack_of(struct no_sample_rows *rows, enum no_sample_kind kind,
			 uint32_t callers)
{
	struct recording_frame frame;
	struct recording_stack stack = { .parent = callers };
	uint32_t row = 0;

	codes_place_own(rows->codes, kind, names[kind], &frame);
	recording_writer_add_frame(rows->codes->writer, &frame, &stack.frame);
	recording_writer_add_stack(rows->codes->writer, &stack, &row);
	return row;
}

void no_sample_add(struct no_sample_rows *rows, const struct image_thread *thread,
		   const struct no_sample *time)
{
	const uint64_t ns = wall_claim(rows->wall, thread->row, time->ns);

	if (ns == 0)
		return;
	if (!recording_writer_has_room(rows->codes->writer)) {
		rows->left_out++;
		return;
	}
	recording_writer_add_sample(
		rows->codes->writer,
		&(struct recording_sample){
			.time_ns = time->time_ns > rows->session_start_ns
					   ? (int64_t)(time->time_ns - rows->session_start_ns)
					   : 0,
			.thread = thread->row,
			.stack = stack_of(rows, time->kind, time->callers),
			.ending = WALK_NO_SAMPLE,
			.weight_ns = (int64_t)ns,
		});
}

void no_sample_add_left_out(struct no_sample_rows *rows, struct image *image,
			    struct image_thread *thread, uint64_t time_ns)
{
	const struct no_sample time = { .kind = NO_SAMPLE_LOST,
					.time_ns = time_ns,
					.ns = thread->left_out_ns };

	if (time.ns == 0)
		return;
	image->left_ns += time.ns;
	thread->left_out_ns = 0;
	no_sample_add(rows, thread, &time);
}

/* The moment, or this one if there is no end. */
static uint64_t at_end_ns(const struct no_sample_rows *rows, uint64_t end_ns)
{
	return end_ns == UINT64_MAX ? rows->now_ns : end_ns;
}

void no_sample_end_left_out(struct no_sample_rows *rows, struct image *image)
{
	if (image->thread_count == 0)
		return;
	image->threads[0].left_out_ns += image->forgotten_left_out_ns;
	image->forgotten_left_out_ns = 0;
	for (size_t i = 0; i < image->thread_count; i++)
		no_sample_add_left_out(rows, image, &image->threads[i],
				       at_end_ns(rows, image->threads[i].end_ns));
}

void no_sample_add_rest(struct no_sample_rows *rows, struct image *image)
{
	struct no_sample time = {
		.kind = image->is_rest_long ? NO_SAMPLE_LEFT : NO_SAMPLE_SHORT,
		.time_ns = at_end_ns(rows, image->end_ns),
		.ns = image->rest_ns,
	};

	no_sample_add(rows, &image->threads[0], &time);
	time.kind = NO_SAMPLE_LOST;
	time.ns = image->lost_rest_ns;
	no_sample_add(rows, &image->threads[0], &time);
}
