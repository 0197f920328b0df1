#include "agent/signals/go_runtime.h"

#include <dlfcn.h>
#include <link.h>

#include "abi/program_libraries.h"
#include "agent/core/own_process.h"
#include "agent/core/images.h"
#include "agent/core/memory.h"
#include "agent/signals/stack_flags.h"

/* An image in memory: program_elf.h reads it by address. */
struct program_file {
	u64 start, end;
	const struct program_elf *elf;
};

/* The image that created a thread last: most programs have one that does. */
static u64 last_start;

/* How many bytes of the image can be read at offset: to the end of the segment that holds it. */
static u64 bytes_there(const struct program_file *file, u64 offset)
{
	/* The segments are not read yet: their headers are on the first page. */
	if (file->elf->load_count == 0)
		return offset < MEMORY_PAGE ? MEMORY_PAGE - offset : 0;
	for (u32 i = 0; i < file->elf->load_count; i++) {
		const struct program_segment *load = &file->elf->loads[i];

		if (offset >= load->address && offset - load->address < load->size)
			return load->size - (offset - load->address);
	}
	return 0;
}

static inline long program_read(struct program_file *file, void *dst, u32 len, u64 offset)
{
	const u64 there = bytes_there(file, offset);

	if (len > there)
		len = (u32)there;
	if (offset > file->end - file->start || len > file->end - file->start - offset)
		return -1;
	__builtin_memcpy(dst, (const void *)(file->start + offset), len);
	return len;
}

/* Whether the image is Go's.  The thread's creator runs in it, so it is not unloaded meanwhile. */
static bool is_go(const struct dl_find_object *image)
{
	struct program_file file = { .start = (u64)image->dlfo_map_start,
				     .end = (u64)image->dlfo_map_end };
	struct program_elf elf = { .file = &file, .is_mapped = true, .bias = file.start };

	file.elf = &elf;
	/* A library's addresses begin at 0; an image whose do not is a program, or very odd. */
	return file.start == (u64)image->dlfo_link_map->l_addr &&
	       program_elf_read(&elf) == PROGRAM_ELF_OURS && program_elf_is_go(&elf);
}

void go_runtime_look(const void *caller)
{
	struct dl_find_object image;

	if (!own_process.is_trap_ours || images_find_object == NULL ||
	    images_find_object((void *)(u64)caller, &image) != 0)
		return;
	const u64 start = (u64)image.dlfo_map_start;

	if (__atomic_exchange_n(&last_start, start, __ATOMIC_RELAXED) != start && is_go(&image))
		stack_flags_allow();
}
