#include "build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/read_at.h"
#include "base/regular_file.h"

/* The kernel itself refuses more than 64 KiB of program headers (fs/binfmt_elf.c). */
#define SEGMENTS_SIZE_MAX 65536u
/* Notes have some hundred bytes; a core file's are larger, but have no build id. */
#define NOTES_SIZE_MAX 65536u

struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t file_size;
	uint64_t align;
};

/* The program headers of an open file. */
struct segments {
	bool is_64bit;
	uint16_t count;
	uint16_t entry_size;
	uint8_t *data; /* malloc'ed: count * entry_size bytes */
};

static void segments_done(struct segments *segments)
{
	free(segments->data);
}

/* The bytes of a segment, malloc'ed, or NULL. */
static void *read_segment(int fd, const struct segment *segment, size_t size_max)
{
	if (segment->file_size == 0 || segment->file_size > size_max)
		return NULL;
	void *data = xmalloc(segment->file_size);
	if (read_at(fd, data, segment->file_size, segment->offset))
		return data;
	free(data);
	return NULL;
}

static bool is_our_elf(const uint8_t *ident)
{
	return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_DATA] == ELFDATA2LSB &&
	       (ident[EI_CLASS] == ELFCLASS64 || ident[EI_CLASS] == ELFCLASS32);
}

/* Fills segments, whose data is then the caller's; -ENOEXEC when this is no ELF file. */
static int read_segments(int fd, struct segments *segments)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };

	/* A 32-bit header is 12 bytes shorter, but no program is that short. */
	if (!read_at(fd, head, sizeof head, 0) || !is_our_elf(head))
		return -ENOEXEC;

	struct bytes b = bytes_of(head + EI_NIDENT, sizeof head - EI_NIDENT);
	bool is_64bit = head[EI_CLASS] == ELFCLASS64;
	segments->is_64bit = is_64bit;
	bytes_take(&b, 2 + 2 + 4);        /* type, machine, version */
	bytes_take(&b, is_64bit ? 8 : 4); /* entry */
	uint64_t offset = is_64bit ? bytes_u64(&b) : bytes_u32(&b);
	bytes_take(&b, is_64bit ? 8 : 4); /* section headers */
	bytes_take(&b, 4 + 2);            /* flags, header size */
	segments->entry_size = bytes_u16(&b);
	segments->count = bytes_u16(&b);

	size_t least = is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t size = (size_t)segments->entry_size * segments->count;
	if (segments->count == 0)
		return 0;
	if (segments->entry_size < least || size > SEGMENTS_SIZE_MAX)
		return -ENOEXEC;
	segments->data = xmalloc(size);
	return read_at(fd, segments->data, size, offset) ? 0 : -ENOEXEC;
}

static struct segment segment_at(const struct segments *segments, size_t i)
{
	struct bytes b =
		bytes_of(segments->data + i * segments->entry_size, segments->entry_size);
	struct segment s = { .type = bytes_u32(&b) };

	if (segments->is_64bit) {
		bytes_u32(&b); /* flags */
		s.offset = bytes_u64(&b);
		bytes_take(&b, 16); /* virtual and physical address */
		s.file_size = bytes_u64(&b);
		bytes_take(&b, 8); /* memory size */
		s.align = bytes_u64(&b);
	} else {
		s.offset = bytes_u32(&b);
		bytes_take(&b, 8);
		s.file_size = bytes_u32(&b);
		bytes_take(&b, 8); /* memory size, flags */
		s.align = bytes_u32(&b);
	}
	return s;
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

size_t elf_build_id_of_notes(const void *notes, size_t len, uint64_t align,
			     uint8_t out_id[ELF_BUILD_ID_MAX])
{
	struct bytes b = bytes_of(notes, len);

	align = align == 8 ? 8 : 4;
	while (bytes_left(&b) >= 12) {
		size_t name_len = bytes_u32(&b);
		size_t id_len = bytes_u32(&b);
		uint32_t type = bytes_u32(&b);
		/*
		 * The padding of the name counts from the start of the note, whose header has
		 * 12 bytes.
		 */
		const char *name = bytes_take(&b, round_up(12 + name_len, align) - 12);
		const uint8_t *id = bytes_take(&b, id_len);
		if (!name || !id)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && memcmp(name, "GNU", 4) == 0) {
			if (id_len > ELF_BUILD_ID_MAX)
				id_len = ELF_BUILD_ID_MAX;
			memcpy(out_id, id, id_len);
			return id_len;
		}
		bytes_take(&b, round_up(id_len, align) - id_len);
	}
	return 0;
}

size_t elf_build_id_read_fd(int fd, uint8_t out_id[ELF_BUILD_ID_MAX])
{
	CLEANUP(segments_done) struct segments segments = { 0 };

	if (read_segments(fd, &segments) < 0)
		return 0;
	for (size_t i = 0; i < segments.count; i++) {
		struct segment s = segment_at(&segments, i);
		if (s.type != PT_NOTE)
			continue;
		CLEANUP(freep) void *notes = read_segment(fd, &s, NOTES_SIZE_MAX);
		size_t len =
			notes ? elf_build_id_of_notes(notes, s.file_size, s.align, out_id) : 0;
		if (len > 0)
			return len;
	}
	return 0;
}

size_t elf_build_id_read(const char *path, uint8_t out_id[ELF_BUILD_ID_MAX])
{
	CLEANUP(closep) int fd = regular_file_open(path, NULL);

	return fd < 0 ? 0 : elf_build_id_read_fd(fd, out_id);
}
