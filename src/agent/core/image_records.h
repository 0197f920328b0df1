/*
 * image_records - sends mapped images through the ring, where no perf event reports mappings.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct ring_header;

/* Where the dynamic linker put an image; path is the linker's memory. */
struct image_place {
	u64 start, end;
	u64 load_bias;
	const char *path;
};

/* Whether no perf event reports mappings to the recorder, or soon none will. */
bool image_records_are_wanted(void);
/* Sends an image, once.  To be called where image_records_are_wanted(). */
void image_records_send(struct ring_header *ring, const struct image_place *image);
/* Images may have been unloaded: reports that addresses have another meaning from here on. */
void image_records_flush(struct ring_header *ring);
