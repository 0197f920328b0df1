/*
 * python_checks - checks whether a file agrees with the row of its version.
 *
 * An interpreter describes some of its objects: the types of code objects, frames and strings
 * are in the file's data, with sizes and the offsets of their members. This reveals modified
 * builds (a debug build, a patched one).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "target/python_row.h"

struct elf_file;

/*
 * NULL, or the first thing that differs from the row: "code objects", "strings" …, a literal.
 */
const char *python_checks_disagreement(struct elf_file *elf, const struct python_row *row,
				       const struct python_offsets *offsets);
