/*
 * layout_symbols - those addresses of an interpreter's layout that its file has names for.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/code_range.h"
#include "abi/tls_variable.h"

struct elf_file;

struct layout_symbol {
	const char *name;
	size_t field; /* where the layout has the address: a u64 */
	bool may_be_absent;
};

/* Puts the file's addresses into a layout.  NULL, or the first name that is not there. */
const char *layout_symbols_find(const struct layout_symbol *symbols, size_t count,
				const struct elf_file *elf, void *layout);
/* Adds the load bias to those that are there. */
void layout_symbols_move(const struct layout_symbol *symbols, size_t count, uint64_t load_bias,
			 void *layout);
void layout_ranges_move(struct code_range ranges[CODE_RANGES], uint64_t load_bias);
void layout_variable_move(struct tls_variable *variable, uint64_t load_bias);
/*
 * Data that a program refers to may have been copied from a library into the program (ELF's
 * copy relocations); then only the copies count, for the library, too.  Puts their addresses
 * into a layout of the same process, whose program is the file at path, with this load bias.  A
 * file that cannot be read changes nothing.
 */
void layout_symbols_use_copies(const struct layout_symbol *symbols, size_t count,
			       const char *path, uint64_t load_bias, void *layout);
