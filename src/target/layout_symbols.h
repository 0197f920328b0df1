/* layout_symbols - fills in those addresses of an interpreter's layout that have symbols. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/code_range.h"
#include "abi/tls_variable.h"

struct elf_file;

struct layout_symbol {
	const char *name;
	size_t field; /* offset of the address in the layout: a u64 */
	bool may_be_absent;
};

/* Stores the file's addresses in a layout. NULL, or the first name that is missing. */
const char *layout_symbols_find(const struct layout_symbol *symbols, size_t count,
				const struct elf_file *elf, void *layout);
/* Adds the load bias to the addresses found. */
void layout_symbols_move(const struct layout_symbol *symbols, size_t count, uint64_t load_bias,
			 void *layout);
void layout_ranges_move(struct code_range ranges[CODE_RANGES], uint64_t load_bias);
void layout_variable_move(struct tls_variable *variable, uint64_t load_bias);
/*
 * Replaces addresses of data that the process's program has copied from the library (ELF copy
 * relocations): the library then uses the copies, too. The program is the file at path, with
 * this load bias. A file that cannot be read changes nothing.
 */
void layout_symbols_use_copies(const struct layout_symbol *symbols, size_t count,
			       const char *path, uint64_t load_bias, void *layout);
