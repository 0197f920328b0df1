/* Reads ELF files of 32-bit programs as far as unwinding needs: segments and sections. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/regular_file.h"
#include "elf_file.h"

/*
 * Linkers put the program headers directly after the ELF header, 32 bytes for each of some ten.
 */
#define HEAD_BYTES 4096U

static void take_segment(struct elf_file *elf, const Elf32_Phdr *segment)
{
	const Elf64_Phdr wide = {
		.p_type = segment->p_type,
		.p_flags = segment->p_flags,
		.p_offset = segment->p_offset,
		.p_vaddr = segment->p_vaddr,
		.p_filesz = segment->p_filesz,
		.p_memsz = segment->p_memsz,
	};

	elf_file_note_segment(elf, &wide);
}

bool elf_file_take_i386(struct elf_file *elf, const void *head, size_t len)
{
	Elf32_Ehdr header;
	Elf32_Phdr segment;

	if (len < sizeof header)
		return false;
	memcpy(&header, head, sizeof header);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != EM_386 || header.e_phentsize != sizeof segment)
		return false;
	elf->machine = EM_386;
	elf->is_32_bit = true;
	if (header.e_shentsize == sizeof(Elf32_Shdr)) {
		elf->section_offset = header.e_shoff;
		elf->section_count = header.e_shnum;
		elf->names_section = header.e_shstrndx;
	}
	for (size_t i = 0; i < header.e_phnum; i++) {
		const uint64_t at = header.e_phoff + i * sizeof segment;

		if (at > len - sizeof segment)
			break;
		memcpy(&segment, (const uint8_t *)head + at, sizeof segment);
		take_segment(elf, &segment);
	}
	return elf->load_count > 0;
}

int elf_file_open_i386(const char *path, struct elf_file *out_elf)
{
	uint8_t head[HEAD_BYTES];
	struct stat status;

	*out_elf = (struct elf_file){ .fd = -1 };
	out_elf->fd = regular_file_open(path, &status);
	if (out_elf->fd < 0)
		return -ENOENT;
	out_elf->size = (uint64_t)status.st_size;
	const size_t len = out_elf->size < sizeof head ? (size_t)out_elf->size : sizeof head;

	if (!elf_file_read_file(out_elf, 0, head, len) ||
	    !elf_file_take_i386(out_elf, head, len)) {
		elf_file_close(out_elf);
		return -ENOENT;
	}
	return 0;
}
