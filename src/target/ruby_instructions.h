/*
 * ruby_instructions - determines the effect of each of an interpreter's instructions.
 *
 * CRuby contains the names of its instructions in the order of their opcodes, for disassembly,
 * even if stripped. They show which instructions a build has, and are compared with its
 * version's row.
 */
#pragma once
#include <stddef.h>

#include "ruby_row.h"

struct elf_file;
struct error;

/*
 * Stores the effect of each of `count` instructions, by opcode, as in struct ruby_row. 0, or
 * -ENOTSUP and a sentence: the file's names or their number differ from the row.
 */
int ruby_instructions_find(const struct elf_file *elf, const struct ruby_row *row, size_t count,
			   u8 out_instructions[RUBY_MAX_INSTRUCTIONS], struct error *err);
