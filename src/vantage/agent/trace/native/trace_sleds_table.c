#include "vantage/agent/trace/native/trace_sleds_table.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"

#if defined(__x86_64__)
#define RELATIVE  R_X86_64_RELATIVE
#define GLOB_DAT  R_X86_64_GLOB_DAT
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#else
#define RELATIVE  R_AARCH64_RELATIVE
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#endif

static bool map_file(const char *path, struct trace_sleds_table *out)
{
	const long fd =
		arch_syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	const long length = arch_syscall4(SYS_lseek, fd, 0, SEEK_END, 0);
	const long place =
		length < (long)sizeof(Elf64_Ehdr)
			? -1
			: arch_syscall6(SYS_mmap, 0, length, PROT_READ, MAP_PRIVATE, fd, 0);

	arch_syscall4(SYS_close, fd, 0, 0, 0);
	*out = (struct trace_sleds_table){ .bytes = (const u8 *)place, .length = (u64)length };
	return place > 0;
}

static bool has(const struct trace_sleds_table *table, u64 at, u64 bytes)
{
	return at <= table->length && table->length - at >= bytes;
}

static bool is_name(const struct trace_sleds_table *table, u64 at)
{
	static const char name[] = "__patchable_function_entries";

	return has(table, at, sizeof name) &&
	       __builtin_memcmp(table->bytes + at, name, sizeof name) == 0;
}

static bool find_sections(struct trace_sleds_table *table)
{
	const Elf64_Ehdr *header = (const void *)table->bytes;

	if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % sizeof(u64) != 0 ||
	    header->e_shstrndx >= header->e_shnum ||
	    !has(table, header->e_shoff, (u64)header->e_shnum * sizeof(Elf64_Shdr)))
		return false;
	table->sections = (const void *)(table->bytes + header->e_shoff);
	table->section_count = header->e_shnum;
	const u64 names = table->sections[header->e_shstrndx].sh_offset;

	for (u32 i = 0; i < table->section_count && names < table->length; i++) {
		const Elf64_Shdr *section = &table->sections[i];

		if ((section->sh_flags & SHF_ALLOC) && is_name(table, names + section->sh_name))
			table->table = section;
	}
	return table->table != NULL && table->table->sh_type != SHT_NOBITS &&
	       table->table->sh_offset % sizeof(u64) == 0 &&
	       has(table, table->table->sh_offset, table->table->sh_size);
}

/* The relocations of a section; NULL: it has none. */
static const Elf64_Rela *relocations_of(const struct trace_sleds_table *table,
					const Elf64_Shdr *section, u64 *out_count)
{
	if (section->sh_type != SHT_RELA || !(section->sh_flags & SHF_ALLOC) ||
	    section->sh_offset % sizeof(u64) != 0 ||
	    !has(table, section->sh_offset, section->sh_size))
		return NULL;
	*out_count = section->sh_size / sizeof(Elf64_Rela);
	return (const void *)(table->bytes + section->sh_offset);
}

static u64 next_relocation(struct trace_sleds_table *table)
{
	for (; table->section < table->section_count; table->section++, table->entry = 0) {
		u64 count = 0;
		const Elf64_Rela *all =
			relocations_of(table, &table->sections[table->section], &count);

		while (all != NULL && table->entry < count) {
			const Elf64_Rela *one = &all[table->entry++];

			if (ELF64_R_TYPE(one->r_info) == RELATIVE &&
			    one->r_offset - table->table->sh_addr < table->table->sh_size &&
			    one->r_addend != 0)
				return (u64)one->r_addend;
		}
	}
	return 0;
}

static u64 next_word(struct trace_sleds_table *table)
{
	const u64 *words = (const void *)(table->bytes + table->table->sh_offset);

	while (table->entry < table->table->sh_size / sizeof(u64)) {
		const u64 word = words[table->entry++];

		if (word != 0)
			return word;
	}
	return 0;
}

u64 trace_sleds_table_next(struct trace_sleds_table *table)
{
	return table->is_by_relocations ? next_relocation(table) : next_word(table);
}

void trace_sleds_table_rewind(struct trace_sleds_table *table)
{
	table->section = 0;
	table->entry = 0;
}

bool trace_sleds_table_open(const char *path, struct trace_sleds_table *out_table)
{
	if (!map_file(path, out_table))
		return false;
	if (!find_sections(out_table)) {
		trace_sleds_table_close(out_table);
		return false;
	}
	out_table->is_by_relocations = true;
	out_table->is_by_relocations = trace_sleds_table_next(out_table) != 0;
	trace_sleds_table_rewind(out_table);
	return true;
}

static const Elf64_Shdr *linked_section(const struct trace_sleds_table *table,
					const Elf64_Shdr *section)
{
	const Elf64_Shdr *linked = section->sh_link < table->section_count
					   ? &table->sections[section->sh_link]
					   : NULL;

	return linked != NULL && linked->sh_type != SHT_NOBITS &&
			       has(table, linked->sh_offset, linked->sh_size)
		       ? linked
		       : NULL;
}

/* The name of a symbol that a section's relocations name; NULL: the file is damaged. */
static const char *name_of(const struct trace_sleds_table *table, const Elf64_Shdr *section,
			   u64 number)
{
	const Elf64_Shdr *symbols = linked_section(table, section);
	const Elf64_Shdr *names = symbols != NULL ? linked_section(table, symbols) : NULL;

	if (names == NULL || symbols->sh_offset % sizeof(u64) != 0 ||
	    number >= symbols->sh_size / sizeof(Elf64_Sym))
		return NULL;
	const Elf64_Sym *symbol =
		(const Elf64_Sym *)(const void *)(table->bytes + symbols->sh_offset) + number;
	const char *text = (const char *)(table->bytes + names->sh_offset);

	/* The last name ends within the section, and so does each. */
	return symbol->st_name < names->sh_size && text[names->sh_size - 1] == '\0'
		       ? text + symbol->st_name
		       : NULL;
}

bool trace_sleds_table_next_symbol(const struct trace_sleds_table *table,
				   struct trace_sleds_symbols *at, const char **out_name,
				   u64 *out_place)
{
	for (; at->section < table->section_count; at->section++, at->entry = 0) {
		const Elf64_Shdr *section = &table->sections[at->section];
		u64 count = 0;
		const Elf64_Rela *all = relocations_of(table, section, &count);

		while (all != NULL && at->entry < count) {
			const Elf64_Rela *one = &all[at->entry++];
			const u64 type = ELF64_R_TYPE(one->r_info);

			if (type != GLOB_DAT && type != JUMP_SLOT)
				continue;
			*out_place = one->r_offset;
			*out_name = name_of(table, section, ELF64_R_SYM(one->r_info));
			if (*out_name != NULL)
				return true;
		}
	}
	return false;
}

void trace_sleds_table_close(struct trace_sleds_table *table)
{
	arch_syscall4(SYS_munmap, (long)table->bytes, (long)table->length, 0, 0);
}
