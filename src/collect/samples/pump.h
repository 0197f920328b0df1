/*
 * pump - moves what an image's agent wrote from its ring into the recording.
 */
#pragma once
#include <stdint.h>

#include "collect/samples/unsampled.h"
#include "collect/stacks/stack_rows.h"

struct image;
struct recording_writer;
struct wall;

struct pump {
	struct recording_writer *writer;
	uint64_t session_start_ns;
	uint64_t round_ns; /* when this round began, before its marks; 0: none */
	uint64_t now_ns;   /* after the mark of the image at hand */
	uint64_t samples;
	uint64_t calls, calls_ns; /* sums of all counted calls */
	uint64_t *record;         /* room for the longest */
	struct stack_rows rows;
	struct unsampled_rows unsampled; /* left_out: samples, since that was reported */
	/*
	 * Called when an agent reports loaded or unloaded libraries (where there is no
	 * sideband).
	 */
	void (*maps_changed)(void *context, struct image *image, uint64_t time_ns);
	void *context;
	struct wall *wall; /* NULL: samples are not of the wall clock */
};

/* The pump must not be moved afterwards. */
void pump_init(struct pump *pump, struct recording_writer *writer, uint64_t session_start_ns);
void pump_done(struct pump *pump);

/* Notes the samples that were left out because the disk was too slow. */
void pump_note_left_out(struct pump *pump);

/* Called before the images are marked and pumped in turn. */
void pump_begin_round(struct pump *pump);
/* How far the ring is written at this moment; 0 for an image without one. */
uint64_t pump_mark(const struct image *image);
/*
 * Moves the records before the mark.  The sideband's mappings up to that moment must have been
 * read.  is_last: no thread writes any more, so uncommitted records will never be committed.
 * Returns how full the ring was, in percent.
 */
unsigned int pump_image(struct pump *pump, struct image *image, uint64_t mark, int is_last);
