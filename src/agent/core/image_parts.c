#include "agent/core/image_parts.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "agent/core/program_start.h"
#include "agent/core/images.h"
#include "agent/core/memory.h"

#define MAX_PROGRAM_HEADERS 64

static void add_segments(const ElfW(Phdr) * headers, u32 count, u64 bias,
			 struct image_parts *out_image)
{
	out_image->count = 0;
	out_image->fixed = out_image->fixed_end = 0;
	for (u32 i = 0; i < count && i < MAX_PROGRAM_HEADERS; i++) {
		const u64 start = bias + headers[i].p_vaddr;

		if (headers[i].p_type == PT_LOAD && out_image->count < IMAGE_PARTS)
			out_image->parts[out_image->count++] = (struct image_part){
				.start = start,
				.end = start + headers[i].p_memsz,
				.flags = headers[i].p_flags,
				.file_end = start + headers[i].p_filesz,
			};
		/* The dynamic linker protects whole pages. */
		if (headers[i].p_type == PT_GNU_RELRO) {
			out_image->fixed = start & ~(MEMORY_PAGE - 1);
			out_image->fixed_end = start + headers[i].p_memsz;
		}
	}
}

void image_parts_read(const struct dl_phdr_info *info, struct image_parts *out_image)
{
	add_segments(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, out_image);
}

bool image_parts_find(u64 address, struct image_parts *out_image)
{
	struct dl_find_object found;
	struct images_headers headers;

	if (images_find_object == NULL || images_find_object((void *)address, &found) != 0)
		return false;
	/* Memory of an image that may be unloaded is not read: `found` has its place. */
	if (!images_is_lasting(found.dlfo_link_map)) {
		*out_image = (struct image_parts){
			.parts[0] = { .start = (u64)found.dlfo_map_start,
				      .end = (u64)found.dlfo_map_end,
				      .flags = PF_R | PF_W | PF_X },
			.count = 1,
		};
		return true;
	}
	if (!images_find_headers(&found, &headers))
		return false;
	add_segments(headers.headers, headers.count, headers.bias, out_image);
	return true;
}

struct search {
	u64 address;
	struct image_parts *image;
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct search *search = context;

	(void)size;
	image_parts_read(info, search->image);
	return image_parts_have(search->image, search->address, search->address + 1, 0);
}

bool image_parts_find_listed(u64 address, struct image_parts *out_image)
{
	struct search search = { .address = address, .image = out_image };

	return dl_iterate_phdr(look, &search) != 0;
}

void image_parts_of_program(struct image_parts *out_program)
{
	const struct link_map *program = _r_debug.r_map;

	*out_program = (struct image_parts){ .count = 0 };
	if (program_start.headers != NULL && program != NULL)
		add_segments(program_start.headers, program_start.header_count,
			     (u64)program->l_addr, out_program);
}
