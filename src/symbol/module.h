/*
 * module - what every source of names offers the symbolizer.
 *
 * A source looks one address up, once; the symbolizer keeps the answers.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "location.h"

struct notes;

/* One more than DWARF can give: the symbol it may have been inlined into. */
#define LOCATIONS_MAX 129

/* What an address is called; filled by a source. */
struct answer {
	uint64_t address;        /* ELF virtual address, or the address itself */
	uint64_t function_start; /* names what has no name: module+0xfunction_start */
	uint64_t gap_end;        /* it is what lies between two functions: …0xgap_end; or 0 */
	struct symbol_location locations[LOCATIONS_MAX];
	size_t count; /* 0: no name */
};

struct symbol_source {
	/* Strings that locations point to live as long as the symbolizer. */
	void (*look_up)(void *state, uint64_t address, struct answer *answer);
	/* About how much memory is held that release() gives back: the next look-up reads
	 * the files again.  Both NULL if there is none. */
	size_t (*held_size)(const void *state);
	void (*release)(void *state);
	/* symbol_module_has_unread_lines(); NULL: never. */
	bool (*has_unread_lines)(const void *state);
	void (*free)(void *state);
};

/* An ELF file, or an image in memory (path is its name then, and it has no debug file). */
struct elf_source_options {
	const char *path;
	const void *image; /* NULL: the file at path */
	size_t image_len;
	const uint8_t *build_id;           /* as recorded */
	size_t build_id_len;               /* 0: not recorded */
	const char *debug_root;            /* NULL: /usr/lib/debug */
	struct debug_server *debug_server; /* NULL: none is asked; outlives the source */
	bool leaves_lines;                 /* symbolizer_leave_installed_lines() */
};

/* Never fails: what cannot be read has no names, and notes says why. */
void *elf_source_new(const struct elf_source_options *options, struct intern *strings,
		     struct notes *notes);
extern const struct symbol_source elf_source;

/* Address ranges with plain names: perf maps and jitdumps. */
void *perf_map_source_new(const char *text, size_t len, struct intern *strings);
void *jitdump_source_new(const char *name, const void *data, size_t len, struct intern *strings,
			 struct notes *notes);
extern const struct symbol_source named_ranges_source;

/* This process's own vDSO: its bytes, or NULL where there is none. */
const void *vdso_image(size_t *out_len);
