/* ruby_symbols - finds variables of CRuby that are not exported. */
#pragma once
#include <stdint.h>

#include "abi/tls_variable.h"
#include "ruby_row.h"

struct elf_file;
struct error;
struct frame_entries;

/* Finds ruby_global_symbols, the table of all symbols' names. */
int ruby_symbols_find(const struct elf_file *elf, const struct frame_entries *entries,
		      const struct ruby_row *row, uint64_t *out_address, struct error *err);
/* Finds ruby_current_ec, the calling thread's execution context: from 3.0 on. */
int ruby_context_find(struct elf_file *elf, const struct ruby_row *row,
		      struct tls_variable *out_variable, struct error *err);
