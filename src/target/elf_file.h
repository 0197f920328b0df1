/*
 * elf_file - what is asked of an ELF file that may hold an interpreter: symbols by name,
 * bytes by address, pointers as they will be when the file is loaded.
 *
 * Reads with pread(2) only what is asked for: a file without the symbol that is looked for
 * costs a handful of small reads, and one that is cut short while it is read does no harm.
 * 64-bit little-endian files only, but for elf_file_open_i386().  Addresses are the file's own,
 * less any load bias.
 */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Segments that are loaded; real files have 2 to 8. */
#define ELF_FILE_LOADS 16

struct elf_file_load {
	uint64_t address, offset, file_size, memory_size;
	bool is_executable, is_writable;
};

/* A symbol that the file defines. */
struct elf_file_symbol {
	uint64_t address, size;
};

struct elf_file {
	int fd;
	uint64_t size; /* of the file */
	uint16_t machine;
	bool is_32_bit;  /* its segments and sections are known, and nothing else */
	bool is_program; /* it names a program interpreter */
	uint16_t load_count;
	struct elf_file_load loads[ELF_FILE_LOADS];
	uint64_t frame_header; /* the address of .eh_frame_hdr, or 0 */

	/* Addresses of the dynamic section's tables, 0: there is none. */
	uint64_t symbols, names, gnu_hash, hash, relocations, jump_relocations, soname;
	uint64_t names_size, relocations_size, jump_relocations_size;

	Elf64_Rela *relocation_table; /* read when first needed; sorted by address */
	size_t relocation_count;

	uint64_t section_offset; /* in the file */
	uint16_t section_count, names_section;
	/* The sections .symtab and .strtab, once elf_file_has() read them. */
	Elf64_Sym *all_symbols;
	char *all_names; /* with a NUL behind them */
	size_t all_symbols_count, all_names_size;
};

/*
 * 0 and an elf to be closed; -ENOENT, err untouched, for what is no such file; or another
 * negative errno and a sentence for a file that cannot be read.  Closing what could not be
 * opened does no harm.
 */
int elf_file_open(const char *path, struct elf_file *out_elf, struct error *err);
void elf_file_close(struct elf_file *elf);
/* The same of a 32-bit file for i386.  -ENOENT: it is none, or cannot be read. */
int elf_file_open_i386(const char *path, struct elf_file *out_elf);
/*
 * Takes segments and sections of such a file from its first bytes, as they are in memory as well;
 * false: it is none.
 */
bool elf_file_take_i386(struct elf_file *elf, const void *head, size_t len);

/* Whether `name` is defined, by the symbols that the dynamic linker sees. */
bool elf_file_find(const struct elf_file *elf, const char *name,
		   struct elf_file_symbol *out_symbol);
/* The same, by .symtab as well once elf_file_has() has read it. */
bool elf_file_find_any(const struct elf_file *elf, const char *name,
		       struct elf_file_symbol *out_symbol);
/* Whether the file has it: a program that exports nothing is asked for its symbol table, too. */
bool elf_file_has(struct elf_file *elf, const char *name);

/* Whether a section is called so. */
bool elf_file_has_section(const struct elf_file *elf, const char *name);
/* Where a section is that is called so. */
bool elf_file_find_section(const struct elf_file *elf, const char *name,
			   struct elf_file_symbol *out_place);

/* A section of file bytes, malloc'ed with a NUL behind them, or NULL. */
void *elf_file_read_section(const struct elf_file *elf, const Elf64_Shdr *header);
/* Exactly len bytes at an offset of the file. */
bool elf_file_read_file(const struct elf_file *elf, uint64_t offset, void *buffer, size_t len);
/* Exactly len bytes at an address: from the file, zero where it has none (.bss). */
bool elf_file_read(const struct elf_file *elf, uint64_t address, void *buffer, size_t len);
bool elf_file_read_u32(const struct elf_file *elf, uint64_t address, uint32_t *out_value);
/* The pointer that will stand there in a process without load bias. */
bool elf_file_read_pointer(struct elf_file *elf, uint64_t address, uint64_t *out_pointer);
/* So many of them; 0 where it is another module's to say. */
bool elf_file_read_pointers(struct elf_file *elf, uint64_t address, uint64_t *out_pointers,
			    size_t count);
/* Whether the dynamic linker puts the number of this module there, for __tls_get_addr(). */
bool elf_file_is_module_slot(struct elf_file *elf, uint64_t address);
/* A text of at most size - 1 bytes; longer ones are cut off.  False: nothing to read. */
bool elf_file_read_text(const struct elf_file *elf, uint64_t address, char *buffer,
			size_t size);
/* One past the last address of a segment that has a byte in the file, whatever it claims. */
uint64_t elf_file_end_of(const struct elf_file *elf, const struct elf_file_load *load);
/* The segment that has the address, or NULL. */
const struct elf_file_load *elf_file_load_at(const struct elf_file *elf, uint64_t address);
