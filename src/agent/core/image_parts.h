/*
 * image_parts - where an image's segments lie in memory, and what may be done with each.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* More than linkers make; the rest of an image that has more is in none. */
#define IMAGE_PARTS 16

struct image_part {
	u64 start, end;
	u32 flags; /* PF_R, PF_W, PF_X */
};

struct image_parts {
	struct image_part parts[IMAGE_PARTS];
	u32 count;
};

/* Whether [start, end) is in one part that has these flags, and is not empty. */
static inline bool image_parts_have(const struct image_parts *image, u64 start, u64 end,
				    u32 flags)
{
	for (u32 i = 0; i < image->count; i++) {
		const struct image_part *part = &image->parts[i];

		if (start < end && start >= part->start && end <= part->end &&
		    (part->flags & flags) == flags)
			return true;
	}
	return false;
}

/*
 * The parts of the image that holds address; false: none does, or its linker is older than glibc
 * 2.35.  In handlers, too.  An image that may go meanwhile has one part, with all flags.
 */
bool image_parts_find(u64 address, struct image_parts *out_image);
/* The same by the linker's list, which any linker has: not in handlers. */
bool image_parts_find_listed(u64 address, struct image_parts *out_image);
/* Of the program itself. */
void image_parts_of_program(struct image_parts *out_program);
