/*
 * stack_rows - translates the stacks that agents send to the recording's rows of frames and
 * stacks.
 *
 * An address is looked up in the image's mappings at that time (its era), the key of an
 * interpreted function in what the agent sent in this epoch.
 */
#pragma once
#include <stdint.h>

#include "base/recent.h"
#include "collect/stacks/codes.h"
#include "collect/stacks/epochs.h"
#include "collect/stacks/file_keeper.h"

struct image;
struct recording_frame;
struct recording_writer;
struct ring_sample;

struct stack_rows {
	struct recording_writer *writer;
	uint64_t session_start_ns;
	struct file_keeper file_keeper; /* files of which there are samples */
	struct epochs epochs;           /* stacks and codes that agents sent */
	struct codes codes;
	struct recent leaf_rows; /* (image, callers, leaf) to (era, the stack's row) */
};

/* The struct must not be moved until stack_rows_done(). */
void stack_rows_init(struct stack_rows *rows, struct recording_writer *writer,
		     uint64_t session_start_ns);
void stack_rows_done(struct stack_rows *rows);

/* The recording's module and place for an address, in the image's era. */
struct recording_frame stack_rows_place(struct stack_rows *rows, struct image *image,
					uint64_t address, uint32_t era);
/* The recording's stack of a frame and its callers (0: none). */
uint32_t stack_rows_add(struct stack_rows *rows, uint32_t parent,
			const struct recording_frame *frame);
/* The same of an address, in the image's era. */
uint32_t stack_rows_add_address(struct stack_rows *rows, struct image *image, uint32_t callers,
				uint64_t address, uint32_t era);
/*
 * The row of a sample's whole stack, callers and leaf. *ending changes if the callers have not
 * come.
 */
uint32_t stack_rows_of_sample(struct stack_rows *rows, struct image *image,
			      const struct ring_sample *sample, uint32_t *ending);
