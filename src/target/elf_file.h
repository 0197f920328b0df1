/*
 * elf_file - reads an ELF file that may contain an interpreter: symbols by name, bytes by
 * address, pointers as they will be once the file is loaded.
 *
 * Reads with pread(2) only what is needed: a file without the requested symbol costs a handful
 * of small reads, and one that is truncated meanwhile does no harm. 64-bit little-endian files
 * only, except by elf_file_open_i386(). Addresses are the file's own, without any load bias.
 */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* PT_LOAD segments; real files have 2 to 8. */
#define ELF_FILE_LOADS 16

struct elf_file_load {
	uint64_t address, offset, file_size, memory_size;
	bool is_executable, is_writable;
};

/* A symbol defined in the file. */
struct elf_file_symbol {
	uint64_t address, size;
};

struct elf_file {
	int fd;
	uint64_t size; /* of the file */
	uint16_t machine;
	bool is_32_bit;  /* only its segments and sections are known */
	bool is_program; /* it has a PT_INTERP */
	uint16_t load_count;
	struct elf_file_load loads[ELF_FILE_LOADS];
	uint64_t frame_header; /* the address of .eh_frame_hdr, or 0 */

	/* Addresses of the dynamic section's tables, 0: there is none. */
	uint64_t symbols, names, gnu_hash, hash, relocations, jump_relocations, soname;
	uint64_t names_size, relocations_size, jump_relocations_size;

	Elf64_Rela *relocation_table; /* read when first needed; sorted by address */
	size_t relocation_count;

	uint64_t section_offset; /* of the section headers, in the file */
	uint16_t section_count, names_section;
	/* The sections .symtab and .strtab, once elf_file_has() has read them. */
	Elf64_Sym *all_symbols;
	char *all_names; /* NUL-terminated */
	size_t all_symbols_count, all_names_size;
};

/*
 * 0, and the file must be closed; -ENOENT, err untouched, if it is no such ELF file; another
 * negative errno and a sentence if it cannot be read. Closing after a failure is harmless.
 */
int elf_file_open(const char *path, struct elf_file *out_elf, struct error *err);
void elf_file_close(struct elf_file *elf);
/* Likewise for a 32-bit file for i386. -ENOENT: it is something else, or cannot be read. */
int elf_file_open_i386(const char *path, struct elf_file *out_elf);
/*
 * Reads segments and sections of such a file from its first bytes, which may also be in memory;
 * false: it is something else.
 */
bool elf_file_take_i386(struct elf_file *elf, const void *head, size_t len);
/* Adds a program header of either kind of file to the loads. */
void elf_file_note_segment(struct elf_file *elf, const Elf64_Phdr *segment);

/* Whether `name` is defined, in the symbol table of the dynamic linker. */
bool elf_file_find(const struct elf_file *elf, const char *name,
		   struct elf_file_symbol *out_symbol);
/* Likewise, also in .symtab once elf_file_has() has read it. */
bool elf_file_find_any(const struct elf_file *elf, const char *name,
		       struct elf_file_symbol *out_symbol);
/* Whether the file defines it: for a program that exports nothing, .symtab is read, too. */
bool elf_file_has(struct elf_file *elf, const char *name);

/* Whether there is a section of that name. */
bool elf_file_has_section(const struct elf_file *elf, const char *name);
/* The place of the section of that name. */
bool elf_file_find_section(const struct elf_file *elf, const char *name,
			   struct elf_file_symbol *out_place);

/* The bytes of a section, malloc'ed and NUL-terminated, or NULL. */
void *elf_file_read_section(const struct elf_file *elf, const Elf64_Shdr *header);
/* Reads exactly len bytes at an offset of the file. */
bool elf_file_read_file(const struct elf_file *elf, uint64_t offset, void *buffer, size_t len);
/* Reads exactly len bytes at an address: from the file, or zeros beyond its data (.bss). */
bool elf_file_read(const struct elf_file *elf, uint64_t address, void *buffer, size_t len);
bool elf_file_read_u32(const struct elf_file *elf, uint64_t address, uint32_t *out_value);
/* The pointer at that address in a process without load bias. */
bool elf_file_read_pointer(struct elf_file *elf, uint64_t address, uint64_t *out_pointer);
/* Reads `count` of them; 0 for those that depend on another module. */
bool elf_file_read_pointers(struct elf_file *elf, uint64_t address, uint64_t *out_pointers,
			    size_t count);
/* Whether the dynamic linker stores this module's TLS id there, for __tls_get_addr(). */
bool elf_file_is_module_slot(struct elf_file *elf, uint64_t address);
/* Reads a text of at most size - 1 bytes; longer ones are cut. False: nothing could be read. */
bool elf_file_read_text(const struct elf_file *elf, uint64_t address, char *buffer,
			size_t size);
/*
 * One past the last address of a segment that has a byte in the file, whatever the header
 * claims.
 */
uint64_t elf_file_end_of(const struct elf_file *elf, const struct elf_file_load *load);
/* The segment that contains the address, or NULL. */
const struct elf_file_load *elf_file_load_at(const struct elf_file *elf, uint64_t address);
