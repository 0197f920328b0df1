/*
 * python_checks - whether a file agrees with the row of its version.
 *
 * An interpreter describes some of its objects itself: the types of code objects, frames and
 * strings stand in the file's data with their sizes and the offsets of their members.  A build
 * that has been changed (a debug build, a patched one) shows there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "target/python_row.h"

struct elf_file;

/* NULL, or what is not as the row has it: "code objects", "strings" …, a literal. */
const char *python_checks_disagreement(struct elf_file *elf, const struct python_row *row,
				       const struct python_offsets *offsets);
