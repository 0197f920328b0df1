#include "target/load_bias.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"
#include "base/regular_file.h"

/* The kernel accepts files with more, but those are not interpreters. */
#define HEADERS_MAX 64
/* Mappings begin at multiples of this on every machine. */
#define PAGE 4096U

static bool is_ours(const Elf64_Ehdr *head)
{
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
	       head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phnum <= HEADERS_MAX;
}

void load_bias_read(const char *path, struct load_bias *out_bias)
{
	CLEANUP(closep) int fd = regular_file_open(path, NULL);
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr head;

	*out_bias = (struct load_bias){ .count = 0 };
	if (fd < 0 || !read_at(fd, &head, sizeof head, 0) || !is_ours(&head))
		return;
	const size_t len = head.e_phnum * sizeof headers[0];

	if (!read_at(fd, headers, len, head.e_phoff))
		return;
	for (size_t i = 0; i < head.e_phnum && out_bias->count < LOAD_BIAS_SEGMENTS; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		out_bias->segments[out_bias->count].address = header->p_vaddr;
		out_bias->segments[out_bias->count].offset = header->p_offset;
		out_bias->segments[out_bias->count++].size = header->p_filesz;
	}
}

bool load_bias_of(const struct load_bias *bias, uint64_t start, uint64_t file_offset,
		  uint64_t *out_load_bias)
{
	for (size_t i = 0; i < bias->count; i++) {
		/* A segment's mapping begins at the page that contains its first byte. */
		const uint64_t skew = bias->segments[i].offset % PAGE;
		const uint64_t from = bias->segments[i].offset - skew;

		/* The mapping may be a part of a segment, as parts can be remapped. */
		if (file_offset < from || file_offset - from >= bias->segments[i].size + skew)
			continue;
		*out_load_bias =
			start - (bias->segments[i].address - skew + (file_offset - from));
		return true;
	}
	return false;
}
