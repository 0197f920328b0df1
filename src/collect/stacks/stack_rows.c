#include "collect/stacks/stack_rows.h"

#include <stddef.h>

#include "abi/ring.h"
#include "abi/walk_status.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/stacks/stacks.h"
#include "record/writer.h"

/* Two tables of 4 MiB: base/recent.h. */
#define LEAF_ROWS (3U << 15)

void stack_rows_init(struct stack_rows *rows, struct recording_writer *writer,
		     uint64_t session_start_ns)
{
	*rows = (struct stack_rows){ .writer = writer, .session_start_ns = session_start_ns };
	rows->leaf_rows.limit = LEAF_ROWS;
	rows->codes.writer = writer;
	epochs_init(&rows->epochs);
}

void stack_rows_done(struct stack_rows *rows)
{
	file_keeper_done(&rows->file_keeper);
	epochs_done(&rows->epochs);
	recent_done(&rows->leaf_rows);
}

struct recording_frame stack_rows_place(struct stack_rows *rows, struct image *image,
					uint64_t address, uint32_t era)
{
	struct module_place *place = mappings_find(image->mappings, address, era);

	if (place == NULL) {
		/* One module for each image, for addresses without a mapping. */
		if (image->unknown_module == 0)
			recording_writer_add_module(
				rows->writer,
				&(struct recording_module){ .kind = MODULE_KIND_UNKNOWN,
							    .path = "[unknown]" },
				&image->unknown_module);
		return (struct recording_frame){ .module = image->unknown_module,
						 .address = address };
	}
	if (place->row == 0 && place->path != NULL)
		file_keeper_add(&rows->file_keeper, image->row, image->pid, place);
	if (place->row == 0)
		recording_writer_add_mapping(
			rows->writer,
			&(struct recording_mapping){
				.process = image->row,
				.module = place->module,
				.start = place->start,
				.end = place->end,
				.file_offset = place->file_offset,
				.from_ns = place->from_ns > rows->session_start_ns
						   ? (int64_t)(place->from_ns -
							       rows->session_start_ns)
						   : 0,
				.to_ns = RECORDING_UNKNOWN,
			},
			&place->row);
	return (struct recording_frame){
		.module = place->module,
		.address =
			place->has_file ? address - place->start + place->file_offset : address,
	};
}

uint32_t stack_rows_add(struct stack_rows *rows, uint32_t parent,
			const struct recording_frame *frame)
{
	struct recording_stack stack = { .parent = parent };
	uint32_t row = 0;

	recording_writer_add_frame(rows->writer, frame, &stack.frame);
	recording_writer_add_stack(rows->writer, &stack, &row);
	return row;
}

/* The frame that a word of a stack stands for. */
static struct recording_frame place_word(struct stack_rows *rows, struct image *image,
					 const struct known_stack *stack, uint64_t word,
					 uint32_t era)
{
	struct recording_frame frame;

	/* A program without an interpreter may still have regions. */
	if ((word & RING_INTERPRETED) == 0 ||
	    (image->languages == 0 && !codes_has_region(&rows->epochs, image->row, word)))
		return stack_rows_place(rows, image, word, era);
	codes_place(&rows->codes, &rows->epochs, image, stack->epoch, word, &frame);
	return frame;
}

/* The recording's row of a stack's callers, in an era. */
static uint32_t callers_row(struct stack_rows *rows, struct image *image,
			    struct known_stack *stack, uint32_t era)
{
	const uint32_t meaning = rows->codes.meaning;
	uint32_t row = 0;

	if (stack->row != 0 && stack->era == era && stack->meaning == meaning)
		return stack->row;
	for (uint32_t i = stack->count; i-- > 0;) {
		const struct recording_frame frame =
			place_word(rows, image, stack, stack->frames[i], era);

		row = stack_rows_add(rows, row, &frame);
	}
	stack->row = row;
	stack->era = era;
	stack->meaning = meaning;
	return row;
}

/*
 * The leaf is a region: what runs is the code of the function that began it, the first of the
 * callers, so the region takes the leaf's place.
 */
static uint32_t add_region(struct stack_rows *rows, struct image *image,
			   const struct known_stack *stack, uint32_t callers, uint64_t word,
			   uint32_t era)
{
	const struct recording_frame frame = place_word(rows, image, stack, word, era);

	return stack_rows_add(rows, callers, &frame);
}

uint32_t stack_rows_add_address(struct stack_rows *rows, struct image *image, uint32_t callers,
				uint64_t address, uint32_t era)
{
	uint64_t *known = recent_at(&rows->leaf_rows, (uint64_t)image->row << 32 | callers,
				    address, NULL);

	if (*known == 0 || *known >> 32 != era) {
		const struct recording_frame frame =
			stack_rows_place(rows, image, address, era);

		*known = (uint64_t)era << 32 | stack_rows_add(rows, callers, &frame);
	}
	return (uint32_t)*known;
}

uint32_t stack_rows_of_sample(struct stack_rows *rows, struct image *image,
			      const struct ring_sample *sample, uint32_t *ending)
{
	const uint32_t era = mappings_era(image->mappings, sample->time_ns);
	uint32_t callers = 0;

	if (sample->stack != 0) {
		struct known_stack *stack =
			stacks_find(&rows->epochs, image->row, sample->stack);

		if (stack != NULL)
			callers = callers_row(rows, image, stack, era);
		else
			*ending = WALK_NO_STACK;
		if (stack != NULL && sample->leaf & RING_INTERPRETED)
			return add_region(rows, image, stack, callers, sample->leaf, era);
	}
	return stack_rows_add_address(rows, image, callers, sample->leaf, era);
}
