/*
 * enter_ring - the ring of an image that is about to be sampled: its memory, and the terms in its
 * header.
 */
#pragma once
#include <stdbool.h>

struct enter_terms;
struct image;

/* Whether events are to trigger in it; else timers do. */
bool enter_has_sigtrap(const struct image *image, const struct enter_terms *terms);
/* session/agent.h says why. */
bool enter_is_user_mode_only(const struct image *image, const struct enter_terms *terms);
/*
 * Sets image->ring, smaller than it should be where files may not be so large (ulimit -f): its file,
 * which is the caller's to close, or a negative errno.
 */
int enter_ring_make(struct image *image, const struct enter_terms *terms);
/* The image is not sampled after all. */
void enter_ring_drop(struct image *image);
