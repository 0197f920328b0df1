#include "collect/samples/unsampled.h"

#include "abi/walk_status.h"
#include "collect/stacks/codes.h"
#include "collect/processes/image.h"
#include "collect/wall/wall.h"
#include "record/writer.h"

static const char *const names[UNSAMPLED_KINDS] = {
	[UNSAMPLED_SHORT] = "[shorter than a sampling period]",
	[UNSAMPLED_LEFT] = "[not sampled]",
	[UNSAMPLED_LOST] = "[lost]",
};

static uint32_t stack_of(struct unsampled_rows *rows, enum unsampled_kind kind,
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

void unsampled_add(struct unsampled_rows *rows, const struct image_thread *thread,
		   const struct unsampled *time)
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

void unsampled_add_left_out(struct unsampled_rows *rows, struct image *image,
			    struct image_thread *thread, uint64_t time_ns)
{
	const struct unsampled time = { .kind = UNSAMPLED_LOST,
					.time_ns = time_ns,
					.ns = thread->left_out_ns };

	if (time.ns == 0)
		return;
	image->left_ns += time.ns;
	thread->left_out_ns = 0;
	unsampled_add(rows, thread, &time);
}

/* end_ns, or this moment if there was no end. */
static uint64_t at_end_ns(const struct unsampled_rows *rows, uint64_t end_ns)
{
	return end_ns == UINT64_MAX ? rows->now_ns : end_ns;
}

void unsampled_end_left_out(struct unsampled_rows *rows, struct image *image)
{
	if (image->thread_count == 0)
		return;
	image->threads[0].left_out_ns += image->forgotten_left_out_ns;
	image->forgotten_left_out_ns = 0;
	for (size_t i = 0; i < image->thread_count; i++)
		unsampled_add_left_out(rows, image, &image->threads[i],
				       at_end_ns(rows, image->threads[i].end_ns));
}

void unsampled_add_rest(struct unsampled_rows *rows, struct image *image)
{
	struct unsampled time = {
		.kind = image->is_rest_long ? UNSAMPLED_LEFT : UNSAMPLED_SHORT,
		.time_ns = at_end_ns(rows, image->end_ns),
		.ns = image->rest_ns,
	};

	unsampled_add(rows, &image->threads[0], &time);
	time.kind = UNSAMPLED_LOST;
	time.ns = image->lost_rest_ns;
	unsampled_add(rows, &image->threads[0], &time);
}
