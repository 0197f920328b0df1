#include "remote/images.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/agent_path.h"
#include "base/memory.h"
#include "target/elf_file.h"
#include "target/maps.h"

/* Program headers read per file; real files have 4 to 14. */
#define HEADERS_MAX 64
#define NOTES_MAX   4096U

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor && strcmp(a->path, b->path) == 0;
}

/* Looks for the build id among the notes at [at, at + size). */
static void read_build_id(struct remote_image *image, struct mem *mem, uint64_t at,
			  uint64_t size)
{
	const uint64_t end = at + (size < NOTES_MAX ? size : NOTES_MAX);
	Elf64_Nhdr note;
	char name[4];

	while (end - at >= sizeof note && mem_read(mem, &note, sizeof note, at) >= 0) {
		const uint64_t name_at = at + sizeof note;
		const uint64_t bytes_at = name_at + ((note.n_namesz + 3ULL) & ~3ULL);
		const uint64_t next = bytes_at + ((note.n_descsz + 3ULL) & ~3ULL);

		if (next > end || next <= at)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof name &&
		    note.n_descsz <= sizeof image->build_id &&
		    mem_read(mem, name, sizeof name, name_at) >= 0 &&
		    memcmp(name, "GNU", sizeof name) == 0 &&
		    mem_read(mem, image->build_id, note.n_descsz, bytes_at) >= 0) {
			image->build_id_len = note.n_descsz;
			return;
		}
		at = next;
	}
}

static void read_header(struct remote_image *image, struct mem *mem, const Elf64_Phdr *header)
{
	if (header->p_type == PT_GNU_EH_FRAME) {
		image->native.eh_frame_hdr = image->bias + header->p_vaddr;
		image->native.eh_frame_hdr_len = header->p_memsz;
	} else if (header->p_type == PT_NOTE && image->build_id_len == 0) {
		read_build_id(image, mem, image->bias + header->p_vaddr, header->p_memsz);
	}
}

bool remote_image_read_headers(struct remote_image *image, struct mem *mem)
{
	const uint64_t start = image->native.start;
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr head;
	bool has_bias = false;

	if (mem_read(mem, &head, sizeof head, start) < 0 ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof *headers ||
	    head.e_phnum > HEADERS_MAX ||
	    mem_read(mem, headers, head.e_phnum * (uint32_t)sizeof *headers,
		     start + head.e_phoff) < 0)
		return false;
	for (size_t i = 0; i < head.e_phnum && !has_bias; i++) {
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset < MEMORY_PAGE) {
			image->bias = start - (headers[i].p_vaddr - headers[i].p_offset);
			has_bias = true;
		}
	}
	for (size_t i = 0; i < head.e_phnum && has_bias; i++)
		read_header(image, mem, &headers[i]);
	return has_bias;
}

/*
 * The number of the next mapping if number i is variables without contents in a file (.bss) that
 * has more segments behind them, as BOLT adds; else i.
 */
static size_t after_bss(const struct maps *maps, size_t i, const struct mapping *first,
			uint64_t end)
{
	size_t next = i;

	while (next < maps_count(maps) && *maps_at(maps, next)->path == '\0' &&
	       maps_at(maps, next)->start == end)
		end = maps_at(maps, next++)->end;
	const struct mapping *m = next < maps_count(maps) ? maps_at(maps, next) : NULL;

	return m && is_same_file(first, m) && m->start == end && m->file_offset != 0 ? next : i;
}

/*
 * Adds the image whose first mapping is number i; returns the number of the mapping after it.
 */
static size_t add(struct remote_images *images, const struct maps *maps, struct mem *mem,
		  size_t i)
{
	const struct mapping *first = maps_at(maps, i);
	struct remote_image image = {
		.native = { .start = first->start },
		.path = first->path,
		.is_agent = path_is_agent(first->path),
		.is_deleted = first->is_deleted,
	};

	for (; i < maps_count(maps); i++) {
		i = after_bss(maps, i, first, image.native.end);
		const struct mapping *m = maps_at(maps, i);

		if (!is_same_file(first, m))
			break;
		/* The same file is mapped a second time: another image. */
		if (m != first && m->file_offset == 0 && m->start != image.native.end)
			break;
		image.native.end = m->end;
		image.has_code |= m->is_executable;
	}
	if (!remote_image_read_headers(&image, mem))
		return i;
	images->images = array_grow(images->images, images->count, &images->capacity,
				    sizeof *images->images);
	images->images[images->count++] = image;
	return i;
}

void remote_images_read(struct remote_images *images, const struct maps *maps, struct mem *mem)
{
	*images = (struct remote_images){ 0 };
	for (size_t i = 0; i < maps_count(maps);) {
		const struct mapping *m = maps_at(maps, i);

		if (m->file_offset == 0 && m->is_readable &&
		    (m->inode != 0 || strcmp(m->path, "[vdso]") == 0))
			i = add(images, maps, mem, i);
		else
			i++;
	}
}

void remote_images_done(struct remote_images *images)
{
	free(images->images);
	*images = (struct remote_images){ 0 };
}

const struct remote_image *remote_images_find(const struct remote_images *images,
					      uint64_t address)
{
	size_t low = 0, high = images->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct remote_image *image = &images->images[middle];

		if (address < image->native.start)
			high = middle;
		else if (address >= image->native.end)
			low = middle + 1;
		else
			return image;
	}
	return NULL;
}

uint64_t remote_file_offset(const struct maps *maps, uint64_t address)
{
	const struct mapping *m = maps_find(maps, address);

	return m && *m->path != '\0' ? address - m->start + m->file_offset : 0;
}

uint64_t remote_symbol_at(const char *path, uint64_t bias, const char *name)
{
	struct elf_file_symbol symbol = { 0 };
	struct elf_file elf;

	if (elf_file_open(path, &elf, NULL) < 0)
		return 0;
	const bool found = elf_file_find(&elf, name, &symbol);

	elf_file_close(&elf);
	return found ? symbol.address + bias : 0;
}
