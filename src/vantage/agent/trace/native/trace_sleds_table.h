/*
 * trace_sleds_table - the table of an image's sleds (trace_sleds.h), as its file has it.
 *
 * It is a section, __patchable_function_entries, of words that the dynamic linker relocates.  An
 * image that has just been loaded may not be relocated yet (before glibc 2.41 it is not when
 * the linker tells of it); so entries are read where the linker will take them from: of the
 * file's relocations, or where none is for the table, of the section itself (a program at a
 * fixed address; relocations in short, DT_RELR).
 */
#pragma once
#include <elf.h>
#include <stdbool.h>

#include "abi/types.h"

struct trace_sleds_table {
	const u8 *bytes; /* of the file */
	u64 length;
	const Elf64_Shdr *sections, *table;
	u32 section_count;
	bool is_by_relocations;
	/* What is read next. */
	u32 section;
	u64 entry;
};

/* Maps the file.  False: it has none, or cannot be read; then there is nothing to close. */
bool trace_sleds_table_open(const char *path, struct trace_sleds_table *out_table);
/* The next one, as an address of the file; 0: there is no more. */
u64 trace_sleds_table_next(struct trace_sleds_table *table);
/* From the first one on again. */
void trace_sleds_table_rewind(struct trace_sleds_table *table);

/* Where the next symbol is looked for: all 0 at first. */
struct trace_sleds_symbols {
	u32 section;
	u64 entry;
};

/*
 * The next word that the dynamic linker puts a symbol's address in, as an address of the file, and the
 * symbol's name, in the file; false: there is no more.
 */
bool trace_sleds_table_next_symbol(const struct trace_sleds_table *table,
				   struct trace_sleds_symbols *at, const char **out_name,
				   u64 *out_place);
void trace_sleds_table_close(struct trace_sleds_table *table);
