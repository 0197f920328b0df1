#include "collect/wall/reader_rows.h"

#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/stacks/codes.h"
#include "collect/stacks/stack_rows.h"
#include "record/writer.h"
#include "remote/process.h"
#include "remote/stack.h"

static uint32_t add_interpreted(struct stack_rows *rows, uint32_t callers,
				const struct stack_frame *frame)
{
	const bool is_python = frame->kind == STACK_PYTHON || frame->kind == STACK_PYTHON_C;
	const bool is_builtin = frame->kind == STACK_RUBY_C || frame->kind == STACK_PYTHON_C;
	const char *plain = frame->plain_name ? frame->plain_name : frame->name;
	struct recording_frame place;

	if (frame->name == NULL)
		plain = is_python ? "[unknown Python function]" : "[unknown Ruby method]";
	codes_place_read(&rows->codes,
			 &(struct recording_code){
				 .language = is_python ? RECORDING_LANGUAGE_PYTHON
						       : RECORDING_LANGUAGE_RUBY,
				 .name = plain,
				 .qualified_name = frame->plain_name ? frame->name : NULL,
				 .file = is_builtin ? NULL : frame->file,
				 .line = is_builtin ? 0 : frame->first_line,
			 },
			 is_builtin ? 0 : frame->line, &place);
	return stack_rows_add(rows, callers, &place);
}

static uint32_t add_region(struct stack_rows *rows, uint32_t callers,
			   const struct stack_frame *frame)
{
	struct recording_frame place;

	codes_place_read(&rows->codes,
			 &(struct recording_code){ .language = RECORDING_LANGUAGE_REGION,
						   .name = frame->name },
			 0, &place);
	return stack_rows_add(rows, callers, &place);
}

/* Our agent's functions between the program's and the C library's are left out. */
static bool is_agents(const struct remote *remote, const struct stack_frame *frame)
{
	const struct remote_image *image = remote_images_find(&remote->images, frame->address);

	return image && image->is_agent;
}

uint32_t wall_reader_add_callers(struct stack_rows *rows, const struct remote *remote,
				 const struct remote_stack *stack, struct image *image,
				 uint64_t now_ns)
{
	const uint32_t era = mappings_era(image->mappings, now_ns);
	uint32_t row = 0;

	for (size_t i = stack->count; i-- > 0;) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind == STACK_REGION)
			row = add_region(rows, row, frame);
		else if (frame->kind != STACK_NATIVE)
			row = add_interpreted(rows, row, frame);
		else if (!is_agents(remote, frame))
			row = stack_rows_add_address(rows, image, row, frame->address, era);
	}
	return row;
}

uint32_t wall_reader_add_queue(struct stack_rows *rows, uint32_t callers)
{
	struct recording_frame leaf;
	uint32_t code = 0;

	/* The same function as that of rows without a stack: wall.c. */
	codes_place_named_own(&rows->codes, "[waits for a CPU]", &code, &leaf);
	return stack_rows_add(rows, callers, &leaf);
}

uint32_t wall_reader_add_label(struct stack_rows *rows, uint32_t callers, const char *label,
			       bool is_stopped)
{
	struct recording_frame leaf;
	uint32_t code = 0;

	if (label == NULL)
		label = is_stopped ? "[stopped]" : "[page fault]";
	codes_place_kernel(&rows->codes, label, &code, &leaf);
	return stack_rows_add(rows, callers, &leaf);
}
