/*
 * Symbols that only .symtab has, for programs that export nothing. The section of names is read
 * whole and searched for the requested name before the symbols are read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "elf_file.h"

/* Larger tables belong to browsers and compilers. */
#define SECTION_SIZE_MAX (64u << 20)

void *elf_file_read_section(const struct elf_file *elf, const Elf64_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_size == 0 ||
	    header->sh_size > SECTION_SIZE_MAX)
		return NULL;

	char *data = xmalloc(header->sh_size + 1);

	data[header->sh_size] = '\0';
	if (elf_file_read_file(elf, header->sh_offset, data, header->sh_size))
		return data;
	free(data);
	return NULL;
}

/* Whether the text is among the names, as a whole name or as the end of one. */
static bool has_text(const char *names, size_t size, const char *text)
{
	return memmem(names, size + 1, text, strlen(text) + 1) != NULL;
}

static const Elf64_Shdr *find_symbol_section(const Elf64_Shdr *headers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (headers[i].sh_type == SHT_SYMTAB && headers[i].sh_link < count)
			return &headers[i];
	}
	return NULL;
}

/*
 * Reads .symtab, for files that export nothing; false if it was stripped, or lacks this name.
 */
static bool use_all_symbols(struct elf_file *elf, const char *name)
{
	size_t size = elf->section_count * sizeof(Elf64_Shdr);

	if (elf->section_offset == 0 || size == 0 || elf->all_symbols)
		return elf->all_symbols != NULL;
	CLEANUP(freep) Elf64_Shdr *headers = xmalloc(size);
	if (!elf_file_read_file(elf, elf->section_offset, headers, size))
		return false;

	const Elf64_Shdr *symbols = find_symbol_section(headers, elf->section_count);
	if (!symbols)
		return false;
	CLEANUP(freep) char *names = elf_file_read_section(elf, &headers[symbols->sh_link]);
	if (!names || !has_text(names, headers[symbols->sh_link].sh_size, name))
		return false;
	elf->all_symbols = elf_file_read_section(elf, symbols);
	if (!elf->all_symbols)
		return false;
	elf->all_symbols_count = symbols->sh_size / sizeof(Elf64_Sym);
	elf->all_names_size = headers[symbols->sh_link].sh_size;
	elf->all_names = names;
	names = NULL;
	return true;
}

static bool read_section_header(const struct elf_file *elf, size_t index,
				Elf64_Shdr *out_header)
{
	Elf32_Shdr header;

	if (!elf->is_32_bit)
		return elf_file_read_file(elf, elf->section_offset + index * sizeof *out_header,
					  out_header, sizeof *out_header);
	if (!elf_file_read_file(elf, elf->section_offset + index * sizeof header, &header,
				sizeof header))
		return false;
	*out_header = (Elf64_Shdr){
		.sh_name = header.sh_name,
		.sh_type = header.sh_type,
		.sh_addr = header.sh_addr,
		.sh_offset = header.sh_offset,
		.sh_size = header.sh_size,
	};
	return true;
}

bool elf_file_has_section(const struct elf_file *elf, const char *name)
{
	Elf64_Shdr header;

	if (elf->names_section >= elf->section_count ||
	    !read_section_header(elf, elf->names_section, &header))
		return false;
	CLEANUP(freep) char *names = elf_file_read_section(elf, &header);

	return names && has_text(names, header.sh_size, name);
}

bool elf_file_find_section(const struct elf_file *elf, const char *name,
			   struct elf_file_symbol *out_place)
{
	Elf64_Shdr header;

	if (elf->names_section >= elf->section_count ||
	    !read_section_header(elf, elf->names_section, &header))
		return false;
	CLEANUP(freep) char *names = elf_file_read_section(elf, &header);
	const uint64_t size = header.sh_size;

	for (size_t i = 0; names && i < elf->section_count; i++) {
		if (!read_section_header(elf, i, &header))
			return false;
		if (header.sh_name >= size || strcmp(names + header.sh_name, name) != 0)
			continue;
		*out_place = (struct elf_file_symbol){ header.sh_addr, header.sh_size };
		return true;
	}
	return false;
}

bool elf_file_find_any(const struct elf_file *elf, const char *name,
		       struct elf_file_symbol *out_symbol)
{
	if (elf_file_find(elf, name, out_symbol))
		return true;
	for (size_t i = 0; i < elf->all_symbols_count; i++) {
		const Elf64_Sym *symbol = &elf->all_symbols[i];

		if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= elf->all_names_size ||
		    strcmp(elf->all_names + symbol->st_name, name) != 0)
			continue;
		*out_symbol = (struct elf_file_symbol){ symbol->st_value, symbol->st_size };
		return true;
	}
	return false;
}

bool elf_file_has(struct elf_file *elf, const char *name)
{
	struct elf_file_symbol symbol;

	return elf_file_find(elf, name, &symbol) ||
	       (elf->is_program && use_all_symbols(elf, name) &&
		elf_file_find_any(elf, name, &symbol));
}
