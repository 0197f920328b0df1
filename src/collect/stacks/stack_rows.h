/*
 * stack_rows - the recording's rows of frames and stacks, by what agents sent of them.
 *
 * An address is looked up in what the image had mapped at that time (its era), a key of an
 * interpreter's code in what the agent sent in this epoch.
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

/* Not moved from then on: stack_rows_done(). */
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
/* The whole stack's: its callers and the leaf.  *ending changes if the callers are not there. */
uint32_t stack_rows_of_sample(struct stack_rows *rows, struct image *image,
			      const struct ring_sample *sample, uint32_t *ending);
