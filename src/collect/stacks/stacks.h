/* stacks - stores the stacks that agents send, by their hash (epochs.h). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct epochs;

/* The callers of a leaf, and their last translation. */
struct known_stack {
	uint32_t count;
	uint32_t epoch;   /* in which it came */
	uint32_t row;     /* the recording's stack; 0: not translated yet */
	uint32_t era;     /* of its addresses, for row (mappings.h) */
	uint32_t meaning; /* of its interpreted frames, for row (codes.h) */
	uint64_t frames[];
};

/* The stack with this hash in that image, or NULL. */
struct known_stack *stacks_find(const struct epochs *epochs, uint32_t image_row, uint64_t hash);
void stacks_add(struct epochs *epochs, uint32_t image_row, uint64_t hash,
		const uint64_t *frames, size_t count);
