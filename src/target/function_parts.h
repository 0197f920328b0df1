/*
 * function_parts - where in a file all parts of a function are.
 */
#pragma once
#include <stdbool.h>

#include "abi/code_range.h"

struct elf_file;
struct elf_file_symbol;
struct frame_entries;

/*
 * The ranges of the function's code: its own, and the parts that the compiler put elsewhere.
 * Unused ones are 0.  False when the function's code cannot be read.
 */
bool function_parts_find(const struct elf_file *elf, const struct frame_entries *entries,
			 const struct elf_file_symbol *function,
			 struct code_range out_ranges[CODE_RANGES]);
