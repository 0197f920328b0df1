/* function_parts - finds all parts of a function in a file. */
#pragma once
#include <stdbool.h>

#include "abi/code_range.h"

struct elf_file;
struct elf_file_symbol;
struct frame_entries;

/*
 * The code ranges of the function: its own, and the parts that the compiler placed elsewhere.
 * Unused ones are 0. False if the function's code cannot be read.
 */
bool function_parts_find(const struct elf_file *elf, const struct frame_entries *entries,
			 const struct elf_file_symbol *function,
			 struct code_range out_ranges[CODE_RANGES]);
