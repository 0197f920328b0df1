/* elf_symbols - reads the symbol tables of an ELF file. */
#pragma once
#include <stdbool.h>

struct elf_image;
struct symbol_table;

/*
 * Adds the functions of .symtab (SHT_SYMTAB) or .dynsym (SHT_DYNSYM). Names are borrowed from
 * the image. False if there is no such table; damaged entries are skipped.
 */
bool elf_symbols_add(struct symbol_table *table, const struct elf_image *image,
		     unsigned section_type);
