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

/* The image that threads were last started from, for most programs have one. */
static u64 last_start;

/* How much of the image is there at offset: up to the end of the segment that holds it. */
static u64 bytes_there(const struct program_file *file, u64 offset)
{
	/* Its segments are not known so far: they are on the first page. */
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

/* The caller runs in it, so it stays where it is. */
static bool is_go(const struct dl_find_object *image)
{
	struct program_file file = { .start = (u64)image->dlfo_map_start,
				     .end = (u64)image->dlfo_map_end };
	struct program_elf elf = { .file = &file, .is_mapped = true, .bias = file.start };

	file.elf = &elf;
	/* A library begins at address 0 of its own; what does not is a program, or very odd. */
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
