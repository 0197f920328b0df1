/*
 * elf_module - an ELF file whose names are looked up, and what was opened for that.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_image.h"
#include "frame_ranges.h"
#include "symbol_table.h"

struct dwarf_info;
struct intern;
struct notes;

struct elf_module {
	struct intern *strings;
	struct notes *notes;
	char *path;
	char *debug_root;
	struct debug_server *debug_server; /* borrowed; NULL: none is asked */
	const void *bytes;                 /* borrowed; NULL: the file at path */
	size_t bytes_len;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;
	bool leaves_lines;     /* of debug files that packages installed */
	bool has_unread_lines; /* it has left some */

	bool is_opened;
	struct elf_image *image; /* NULL: cannot be used */
	struct elf_image *mini;  /* .gnu_debugdata */
	struct elf_image *debug;
	struct elf_image *alt;
	struct dwarf_info *dwarf;
	struct symbol_table symbols;
	struct symbol_table stubs; /* of the PLT */
	struct frame_ranges ranges;
};

/*
 * Opens the file, and what its names come from besides, at the first look-up; image stays NULL where
 * it cannot be used.  What is missing is a note.
 */
void elf_module_open(struct elf_module *module);
