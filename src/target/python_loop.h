/*
 * python_loop - where in a file the interpreter's loop is, all parts of it.
 */
#pragma once
#include <stdbool.h>

#include "abi/python_layout.h"

struct python_elf;
struct python_symbol;

/*
 * The ranges of the function's code: its own, and the parts that the compiler put elsewhere.
 * Unused ones are 0.  False when the function's code cannot be read.
 */
bool python_loop_find(const struct python_elf *elf, const struct python_symbol *function,
		      struct python_range out_ranges[PYTHON_LOOP_RANGES]);
