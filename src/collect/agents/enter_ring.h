/*
 * enter_ring - makes the ring of an image that is about to be sampled, and writes the terms
 * into its header.
 */
#pragma once
#include <stdbool.h>

struct enter_terms;
struct image;

/* Whether perf events sample the image; else timers do. */
bool enter_has_sigtrap(const struct image *image, const struct enter_terms *terms);
/* Whether its events count user mode only; session/agent.h has the reason. */
bool enter_is_user_mode_only(const struct image *image, const struct enter_terms *terms);
/*
 * Sets image->ring, smaller than usual if a limit of file sizes (ulimit -f) requires it.
 * Returns its file, which is the caller's to close, or a negative errno.
 */
int enter_ring_make(struct image *image, const struct enter_terms *terms);
/* Removes the ring of an image that is not sampled after all. */
void enter_ring_drop(struct image *image);
