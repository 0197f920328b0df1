/*
 * pump - moves what an image's agent wrote from its ring into the recording.
 */
#pragma once
#include <stdint.h>

#include "base/recent.h"
#include "collect/codes.h"
#include "collect/epochs.h"
#include "collect/file_keeper.h"
#include "collect/no_sample.h"

struct image;
struct recording_writer;

struct pump {
	struct recording_writer *writer;
	uint64_t session_start_ns;
	uint64_t round_ns; /* before the marks of this round; 0: none began */
	uint64_t now_ns;   /* after the mark of the image at hand */
	uint64_t samples;
	uint64_t calls, calls_ns;       /* of all that was counted */
	uint64_t *record;               /* room for the longest */
	struct file_keeper file_keeper; /* files of which there are samples */
	struct epochs epochs;           /* stacks and codes that agents sent */
	struct codes codes;
	struct no_sample_rows no_sample; /* left_out: samples, since that was reported */
	struct recent leaf_rows;         /* (image, callers, leaf) to (era, the stack's row) */
	/* Called when an agent says that images came or went (there is no perf event). */
	void (*maps_changed)(void *context, struct image *image, uint64_t time_ns);
	void *context;
};

/* The pump is not moved from then on. */
void pump_init(struct pump *pump, struct recording_writer *writer, uint64_t session_start_ns);
void pump_done(struct pump *pump);

/* The recording's module and place for an address, in the image's era. */
struct recording_frame pump_place(struct pump *pump, struct image *image, uint64_t address,
				  uint32_t era);

/* The recording's stack of a frame and its callers (0: none). */
uint32_t pump_add_node(struct pump *pump, uint32_t parent, const struct recording_frame *frame);
/* The same of an address, in the image's era. */
uint32_t pump_add_address(struct pump *pump, struct image *image, uint32_t callers,
			  uint64_t address, uint32_t era);

/* Writes a note of samples that were left out because so much waited for the disk. */
void pump_note_left_out(struct pump *pump);

/* Before the images are marked and pumped in turn. */
void pump_begin_round(struct pump *pump);
/* How far the ring is written at this moment; 0 for an image without one. */
uint64_t pump_mark(const struct image *image);
/*
 * Moves the records before the mark: what perf events report of mappings up to then must
 * have been taken in.  is_last: no thread writes any more, so what is not committed never will be.
 * Returns how full the ring was, in percent.
 */
unsigned int pump_image(struct pump *pump, struct image *image, uint64_t mark, int is_last);
