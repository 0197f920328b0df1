/*
 * ruby_instructions - what an interpreter's instructions do.
 *
 * CRuby has the names of its instructions in the order of their opcodes, for disassemblies,
 * stripped or not.  They say of every build which instructions it has; a version's row is held
 * against them.
 */
#pragma once
#include <stddef.h>

#include "ruby_row.h"

struct elf_file;
struct error;

/*
 * What each of `count` instructions does, by its opcode, as in struct ruby_row.  0, or -ENOTSUP
 * and a sentence: the file names others than the row has, or not so many.
 */
int ruby_instructions_find(const struct elf_file *elf, const struct ruby_row *row, size_t count,
			   u8 out_instructions[RUBY_MAX_INSTRUCTIONS], struct error *err);
