/*
 * codes - the functions of interpreted programs that agents sent, by the key that their frames
 * bear (epochs.h), and what such a frame is in the recording.
 *
 * A frame never gets a wrong name: one whose code did not come, or whose key two contents
 * claim in one epoch, is shown as unknown.
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
	/* Of the recording, by language (0: one that is not known); 0: none so far. */
	uint32_t modules[CODES_LANGUAGES], unknown_codes[CODES_LANGUAGES];
	/*
	 * Goes up when frames may mean something else than they did: a code came after it was
	 * missed, or another content by the same key.
	 */
	uint32_t meaning;
	bool has_missed;               /* a code was asked for in vain */
	uint32_t own_codes[CODES_OWN]; /* of fathom's own rows; 0: none so far */
};

/* A RING_CODE of so many words; what makes no sense is passed over. */
void codes_take(struct codes *codes, struct epochs *epochs, uint32_t image_row,
		const uint64_t *words, uint64_t count);
/* Whether a key's code has come. */
bool codes_has(const struct epochs *epochs, uint32_t image_row, uint64_t key);
/* The same of a region's, which programs without an interpreter have, too. */
bool codes_has_region(const struct epochs *epochs, uint32_t image_row, uint64_t key);
/* The place of one of fathom's own rows: which of CODES_OWN, and what it is called. */
void codes_place_own(struct codes *codes, uint32_t which, const char *name,
		     struct recording_frame *out_frame);
/* The same of one that is not among those; *row is the recording's for it, 0 before the first time. */
void codes_place_named_own(struct codes *codes, const char *name, uint32_t *row,
			   struct recording_frame *out_frame);
/* That of a function of the kernel's; *row is the recording's for it, 0 before the first time. */
void codes_place_kernel(struct codes *codes, const char *name, uint32_t *row,
			struct recording_frame *out_frame);
/* That of an interpreted function that was read from outside, at the line being executed. */
void codes_place_read(struct codes *codes, const struct recording_code *code, uint32_t line,
		      struct recording_frame *out_frame);
/* The place of an interpreted frame (abi/ring.h), a word of a stack of that epoch. */
void codes_place(struct codes *codes, const struct epochs *epochs, const struct image *image,
		 uint32_t epoch, uint64_t word, struct recording_frame *out_frame);
