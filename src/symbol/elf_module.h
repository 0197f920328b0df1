/* elf_module - an ELF file as a source of names, and the files opened for that. */
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
	struct debug_server *debug_server; /* borrowed; NULL: no servers are used */
	const void *bytes;                 /* borrowed; NULL: the file at path */
	size_t bytes_len;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;
	bool leaves_lines;     /* skip lines in debug files installed by packages */
	bool has_unread_lines; /* some were skipped */

	bool is_opened;
	struct elf_image *image; /* NULL: unusable */
	struct elf_image *mini;  /* from .gnu_debugdata */
	struct elf_image *debug;
	struct elf_image *alt;
	struct dwarf_info *dwarf;
	struct symbol_table symbols;
	struct symbol_table stubs; /* of the PLT */
	struct frame_ranges ranges;
};

/*
 * Opens the file and its further sources of names, on the first lookup; image stays NULL if it
 * is unusable. Missing parts are noted.
 */
void elf_module_open(struct elf_module *module);
