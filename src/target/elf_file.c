#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/read_at.h"
#include "base/regular_file.h"

/* The kernel refuses more than 64 KiB of program headers (fs/binfmt_elf.c). */
#define PROGRAM_HEADERS_MAX 65536u
#define DYNAMIC_MAX         4096u
/* Limit on the size of a relocation or symbol table: some ten times the largest known. */
#define TABLE_SIZE_MAX (64u << 20)

bool elf_file_read_file(const struct elf_file *elf, uint64_t offset, void *buffer, size_t len)
{
	return offset <= elf->size && len <= elf->size - offset &&
	       read_at(elf->fd, buffer, len, offset);
}

const struct elf_file_load *elf_file_load_at(const struct elf_file *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->load_count; i++) {
		const struct elf_file_load *load = &elf->loads[i];

		if (address >= load->address && address - load->address < load->memory_size)
			return load;
	}
	return NULL;
}

uint64_t elf_file_end_of(const struct elf_file *elf, const struct elf_file_load *load)
{
	const uint64_t left = load->offset < elf->size ? elf->size - load->offset : 0;

	return load->address + (load->file_size < left ? load->file_size : left);
}

bool elf_file_read(const struct elf_file *elf, uint64_t address, void *buffer, size_t len)
{
	const struct elf_file_load *load = elf_file_load_at(elf, address);

	if (!load || len > load->memory_size - (address - load->address))
		return false;

	uint64_t at = address - load->address;
	size_t in_file = 0;

	if (at < load->file_size)
		in_file = len < load->file_size - at ? len : load->file_size - at;
	memset((uint8_t *)buffer + in_file, 0, len - in_file);
	return in_file == 0 || elf_file_read_file(elf, load->offset + at, buffer, in_file);
}

bool elf_file_read_u32(const struct elf_file *elf, uint64_t address, uint32_t *out_value)
{
	return elf_file_read(elf, address, out_value, sizeof *out_value);
}

bool elf_file_read_text(const struct elf_file *elf, uint64_t address, char *buffer, size_t size)
{
	const struct elf_file_load *load = elf_file_load_at(elf, address);

	if (!load || address - load->address >= load->file_size)
		return false;

	uint64_t left = load->file_size - (address - load->address);
	size_t len = left < size - 1 ? left : size - 1;

	if (!elf_file_read(elf, address, buffer, len))
		return false;
	buffer[len] = '\0';
	return true;
}

static int compare_relocations(const void *a, const void *b)
{
	const Elf64_Rela *one = a, *other = b;

	return (one->r_offset > other->r_offset) - (one->r_offset < other->r_offset);
}

/* Adds the relocations of one table. */
static void read_table(struct elf_file *elf, uint64_t address, uint64_t size)
{
	size_t count = size / sizeof(Elf64_Rela);
	Elf64_Rela *table = xreallocarray(elf->relocation_table,
					  elf->relocation_count + count + 1, sizeof *table);

	elf->relocation_table = table;
	if (count > 0 &&
	    elf_file_read(elf, address, table + elf->relocation_count, count * sizeof *table))
		elf->relocation_count += count;
}

static void read_relocations(struct elf_file *elf)
{
	read_table(elf, elf->relocations, elf->relocations_size);
	read_table(elf, elf->jump_relocations, elf->jump_relocations_size);
	qsort(elf->relocation_table, elf->relocation_count, sizeof(Elf64_Rela),
	      compare_relocations);
}

/* The relocation of the word at an address, or NULL. */
static const Elf64_Rela *relocation_at(struct elf_file *elf, uint64_t address)
{
	const Elf64_Rela key = { .r_offset = address };

	if (!elf->relocation_table)
		read_relocations(elf);
	return bsearch(&key, elf->relocation_table, elf->relocation_count, sizeof key,
		       compare_relocations);
}

/* How a relocation computes its word, as far as the file determines that. */
enum relocation_kind {
	RELOCATION_OTHER,
	RELOCATION_BASE,
	RELOCATION_SYMBOL,
	RELOCATION_MODULE
};

static const struct {
	uint16_t machine;
	uint32_t type;
	enum relocation_kind kind;
} relocation_kinds[] = {
	{ EM_X86_64, R_X86_64_RELATIVE, RELOCATION_BASE },
	{ EM_X86_64, R_X86_64_64, RELOCATION_SYMBOL },
	{ EM_X86_64, R_X86_64_GLOB_DAT, RELOCATION_SYMBOL },
	{ EM_X86_64, R_X86_64_DTPOFF64, RELOCATION_SYMBOL },
	{ EM_X86_64, R_X86_64_DTPMOD64, RELOCATION_MODULE },
	{ EM_AARCH64, R_AARCH64_RELATIVE, RELOCATION_BASE },
	{ EM_AARCH64, R_AARCH64_ABS64, RELOCATION_SYMBOL },
	{ EM_AARCH64, R_AARCH64_GLOB_DAT, RELOCATION_SYMBOL },
};

static enum relocation_kind kind_of(const struct elf_file *elf, const Elf64_Rela *relocation)
{
	for (size_t i = 0; i < sizeof relocation_kinds / sizeof relocation_kinds[0]; i++) {
		if (relocation_kinds[i].machine == elf->machine &&
		    relocation_kinds[i].type == ELF64_R_TYPE(relocation->r_info))
			return relocation_kinds[i].kind;
	}
	return RELOCATION_OTHER;
}

/*
 * A relocation with an addend replaces the file's bytes; without a relocation (a program at a
 * fixed address, or packed relocations) the bytes are the pointer.
 */
bool elf_file_read_pointer(struct elf_file *elf, uint64_t address, uint64_t *out_pointer)
{
	const Elf64_Rela *relocation = relocation_at(elf, address);
	Elf64_Sym symbol = { 0 };

	if (!relocation)
		return elf_file_read(elf, address, out_pointer, sizeof *out_pointer);

	enum relocation_kind kind = kind_of(elf, relocation);

	if (kind != RELOCATION_BASE && kind != RELOCATION_SYMBOL)
		return false;
	if (kind == RELOCATION_SYMBOL &&
	    (elf->symbols == 0 ||
	     !elf_file_read(elf, elf->symbols + ELF64_R_SYM(relocation->r_info) * sizeof symbol,
			    &symbol, sizeof symbol)))
		return false;
	*out_pointer = symbol.st_value + (uint64_t)relocation->r_addend;
	return true;
}

/* The first relocation at or after the address. */
static size_t first_relocation(struct elf_file *elf, uint64_t address)
{
	size_t low = 0, high;

	if (!elf->relocation_table)
		read_relocations(elf);
	for (high = elf->relocation_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (elf->relocation_table[middle].r_offset < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool elf_file_read_pointers(struct elf_file *elf, uint64_t address, uint64_t *out_pointers,
			    size_t count)
{
	if (!elf_file_read(elf, address, out_pointers, count * sizeof *out_pointers))
		return false;
	for (size_t i = first_relocation(elf, address); i < elf->relocation_count; i++) {
		const Elf64_Rela *relocation = &elf->relocation_table[i];
		const uint64_t at = relocation->r_offset - address;

		if (at / sizeof *out_pointers >= count)
			break;
		if (at % sizeof *out_pointers == 0)
			out_pointers[at / sizeof *out_pointers] =
				kind_of(elf, relocation) == RELOCATION_BASE
					? (uint64_t)relocation->r_addend
					: 0;
	}
	return true;
}

bool elf_file_is_module_slot(struct elf_file *elf, uint64_t address)
{
	const Elf64_Rela *relocation = relocation_at(elf, address);

	return relocation && kind_of(elf, relocation) == RELOCATION_MODULE;
}

static bool read_header(struct elf_file *elf, Elf64_Ehdr *out_header)
{
	if (!elf_file_read_file(elf, 0, out_header, sizeof *out_header) ||
	    memcmp(out_header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    out_header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    out_header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    out_header->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	elf->machine = out_header->e_machine;
	if (out_header->e_shentsize == sizeof(Elf64_Shdr)) {
		elf->section_offset = out_header->e_shoff;
		elf->section_count = out_header->e_shnum;
		elf->names_section = out_header->e_shstrndx;
	}
	return elf->machine == EM_X86_64 || elf->machine == EM_AARCH64;
}

void elf_file_note_segment(struct elf_file *elf, const Elf64_Phdr *segment)
{
	if (segment->p_type == PT_INTERP)
		elf->is_program = true;
	if (segment->p_type == PT_GNU_EH_FRAME)
		elf->frame_header = segment->p_vaddr;
	if (segment->p_type != PT_LOAD || elf->load_count == ELF_FILE_LOADS)
		return;
	elf->loads[elf->load_count++] = (struct elf_file_load){
		.address = segment->p_vaddr,
		.offset = segment->p_offset,
		.file_size = segment->p_filesz < segment->p_memsz ? segment->p_filesz
								  : segment->p_memsz,
		.memory_size = segment->p_memsz,
		.is_executable = (segment->p_flags & PF_X) != 0,
		.is_writable = (segment->p_flags & PF_W) != 0,
	};
}

static void note_dynamic(struct elf_file *elf, const Elf64_Dyn *entry, uint64_t *out_soname)
{
	uint64_t value = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		elf->symbols = value;
		break;
	case DT_STRTAB:
		elf->names = value;
		break;
	case DT_STRSZ:
		elf->names_size = value;
		break;
	case DT_GNU_HASH:
		elf->gnu_hash = value;
		break;
	case DT_HASH:
		elf->hash = value;
		break;
	case DT_RELA:
		elf->relocations = value;
		break;
	case DT_RELASZ:
		elf->relocations_size = value < TABLE_SIZE_MAX ? value : 0;
		break;
	case DT_JMPREL:
		elf->jump_relocations = value;
		break;
	case DT_PLTRELSZ:
		elf->jump_relocations_size = value < TABLE_SIZE_MAX ? value : 0;
		break;
	case DT_SONAME:
		*out_soname = value;
		break;
	default:
		break;
	}
}

static void read_dynamic(struct elf_file *elf, const Elf64_Phdr *segment)
{
	size_t len = segment->p_filesz < DYNAMIC_MAX ? segment->p_filesz : DYNAMIC_MAX;
	size_t count = len / sizeof(Elf64_Dyn);
	Elf64_Dyn entries[DYNAMIC_MAX / sizeof(Elf64_Dyn)];
	uint64_t soname = UINT64_MAX;

	if (!elf_file_read_file(elf, segment->p_offset, entries, count * sizeof entries[0]))
		return;
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
		note_dynamic(elf, &entries[i], &soname);
	if (elf->names != 0 && soname < elf->names_size)
		elf->soname = elf->names + soname;
}

static bool read_segments(struct elf_file *elf)
{
	Elf64_Ehdr header;

	if (!read_header(elf, &header))
		return false;

	size_t size = header.e_phnum * sizeof(Elf64_Phdr);
	if (size == 0 || size > PROGRAM_HEADERS_MAX)
		return false;
	CLEANUP(freep) Elf64_Phdr *segments = xmalloc(size);
	if (!elf_file_read_file(elf, header.e_phoff, segments, size))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++)
		elf_file_note_segment(elf, &segments[i]);
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type == PT_DYNAMIC)
			read_dynamic(elf, &segments[i]);
	}
	return elf->load_count > 0;
}

int elf_file_open(const char *path, struct elf_file *out_elf, struct error *err)
{
	struct stat st;

	*out_elf = (struct elf_file){ .fd = -1 };
	out_elf->fd = regular_file_open(path, &st);
	if (out_elf->fd == -ENOENT)
		return error_set(err, -ESTALE, "%s: it is gone", path);
	if (out_elf->fd == -EINVAL)
		return -ENOENT;
	if (out_elf->fd < 0)
		return error_errno(err, out_elf->fd, "%s", path);
	out_elf->size = (uint64_t)st.st_size;
	if (!read_segments(out_elf)) {
		elf_file_close(out_elf);
		return -ENOENT;
	}
	return 0;
}

void elf_file_close(struct elf_file *elf)
{
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->relocation_table);
	free(elf->all_symbols);
	free(elf->all_names);
	*elf = (struct elf_file){ .fd = -1 };
}
