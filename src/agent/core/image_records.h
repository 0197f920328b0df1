/*
 * image_records - images in the ring, where no perf event reports mappings to the recorder.
 */
#pragma once
#include <stdbool.h>

struct image_place;
struct ring_header;

/* Whether no perf event reports mappings to the recorder, or soon none will. */
bool image_records_are_wanted(void);
/* Sends an image, once: where image_records_are_wanted(). */
void image_records_send(struct ring_header *ring, const struct image_place *image);
/* Images may have gone: addresses have another meaning from here on. */
void image_records_flush(struct ring_header *ring);
