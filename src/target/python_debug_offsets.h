/*
 * python_debug_offsets - reads the offsets that CPython 3.13 and later publish for debuggers.
 *
 * _PyRuntime begins with a struct _Py_DebugOffsets, whose values are constants, so they are in
 * the file. Source: Include/internal/pycore_debug_offsets.h (3.14), pycore_runtime.h (3.13).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "target/python_row.h"

struct elf_file;

/* From the first three fields, which are the same in all versions so far. */
struct python_debug_identity {
	uint32_t version; /* PY_VERSION_HEX */
	bool is_free_threaded;
};

/* False: there is no such struct at `runtime`. */
bool python_debug_identify(const struct elf_file *elf, uint64_t runtime,
			   struct python_debug_identity *out_identity);
/*
 * Replaces those of the row's offsets that the struct has. NULL, or the name of the first field
 * with an implausible offset: a literal.
 */
const char *python_debug_offsets_read(const struct elf_file *elf, uint64_t runtime,
				      const struct python_row *row,
				      struct python_offsets *offsets);
