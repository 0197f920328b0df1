/*
 * image_parts - where an image's segments are in memory, and their access rights.
 */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"

/* More than linkers make; further segments of an image are left out. */
#define IMAGE_PARTS 16

struct image_part {
	u64 start, end;
	u32 flags;    /* PF_R, PF_W, PF_X */
	u64 file_end; /* where the bytes that the file has end */
};

struct image_parts {
	struct image_part parts[IMAGE_PARTS];
	u32 count;
	u64 fixed, fixed_end; /* pages that are read-only since relocation (PT_GNU_RELRO) */
};

/* The part that has [start, end), not empty, and these flags; NULL: there is none. */
static inline const struct image_part *image_parts_at(const struct image_parts *image,
						      u64 start, u64 end, u32 flags)
{
	if ((flags & PF_W) && start < image->fixed_end && end > image->fixed)
		return NULL;
	for (u32 i = 0; i < image->count; i++) {
		const struct image_part *part = &image->parts[i];

		if (start < end && start >= part->start && end <= part->end &&
		    (part->flags & flags) == flags)
			return part;
	}
	return NULL;
}

static inline bool image_parts_have(const struct image_parts *image, u64 start, u64 end,
				    u32 flags)
{
	return image_parts_at(image, start, end, flags) != NULL;
}

/*
 * Finds the parts of the image that holds address; false: no image does, or glibc is older than
 * 2.35.  Callable in handlers.  An image that may be unloaded meanwhile has one part, with all
 * flags.
 */
bool image_parts_find(u64 address, struct image_parts *out_image);
/* The same by dl_iterate_phdr(), which older glibc has as well: not in handlers. */
bool image_parts_find_listed(u64 address, struct image_parts *out_image);
struct dl_phdr_info;
/* The parts of the image that dl_iterate_phdr() has come to. */
void image_parts_read(const struct dl_phdr_info *info, struct image_parts *out_image);
/* The parts of the program itself. */
void image_parts_of_program(struct image_parts *out_program);
