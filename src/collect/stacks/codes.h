/*
 * codes - stores the interpreted functions that agents send, by the key in their frames
 * (epochs.h), and translates such frames for the recording.
 *
 * A frame never gets a wrong name: one whose code did not come, or whose key came with two
 * contents in one epoch, is shown as unknown.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "record/recording.h"

struct epochs;
struct image;
struct recording_writer;

enum { CODES_LANGUAGES = RECORDING_LANGUAGE_REGION + 1, CODES_OWN = 4 };

struct codes {
	struct recording_writer *writer;
	/* Rows of the recording, by language (index 0: unknown); 0: none so far. */
	uint32_t modules[CODES_LANGUAGES], unknown_codes[CODES_LANGUAGES];
	/*
	 * Incremented when frames must be translated anew: a missed code has come, or another
	 * content with the same key.
	 */
	uint32_t meaning;
	bool has_missed;               /* a code was looked up that had not come */
	uint32_t own_codes[CODES_OWN]; /* of fathom's own rows; 0: none so far */
};

/* Takes a RING_CODE of count words; a malformed one is ignored. */
void codes_take(struct codes *codes, struct epochs *epochs, uint32_t image_row,
		const uint64_t *words, uint64_t count);
/* Whether a key's code has come. */
bool codes_has(const struct epochs *epochs, uint32_t image_row, uint64_t key);
/*
 * Whether a region has come with this key; programs without an interpreter have regions, too.
 */
bool codes_has_region(const struct epochs *epochs, uint32_t image_row, uint64_t key);
/* The place of one of fathom's own rows, by its index (below CODES_OWN) and name. */
void codes_place_own(struct codes *codes, uint32_t which, const char *name,
		     struct recording_frame *out_frame);
/* The same for a row without an index; *row keeps its row of the recording, 0 at first. */
void codes_place_named_own(struct codes *codes, const char *name, uint32_t *row,
			   struct recording_frame *out_frame);
/* The same for a kernel function; *row keeps its row of the recording, 0 at first. */
void codes_place_kernel(struct codes *codes, const char *name, uint32_t *row,
			struct recording_frame *out_frame);
/*
 * The place of an interpreted function that was read from outside, at the line being executed.
 */
void codes_place_read(struct codes *codes, const struct recording_code *code, uint32_t line,
		      struct recording_frame *out_frame);
/* The place of an interpreted frame (abi/ring.h), a word of a stack of that epoch. */
void codes_place(struct codes *codes, const struct epochs *epochs, const struct image *image,
		 uint32_t epoch, uint64_t word, struct recording_frame *out_frame);
