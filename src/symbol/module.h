/*
 * module - the interface between sources of names and the symbolizer.
 *
 * A source looks each address up once; the symbolizer caches the results.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "location.h"

struct notes;

/* One more than DWARF can give, for a symbol that encloses them. */
#define LOCATIONS_MAX 129

/* The result of a lookup, filled in by a source. */
struct answer {
	uint64_t address;        /* ELF virtual address, or the plain address */
	uint64_t function_start; /* for code without a name: module+0xfunction_start */
	uint64_t gap_end; /* for a gap between two functions: its end, …0xgap_end; or 0 */
	struct symbol_location locations[LOCATIONS_MAX];
	size_t count; /* 0: no name */
};

struct symbol_source {
	/* Strings in locations live as long as the symbolizer. */
	void (*look_up)(void *state, uint64_t address, struct answer *answer);
	/*
	 * About how much memory release() would free; the next lookup reads the files again.
	 * Both NULL if none.
	 */
	size_t (*held_size)(const void *state);
	void (*release)(void *state);
	/* Implements symbol_module_has_unread_lines(); NULL: never. */
	bool (*has_unread_lines)(const void *state);
	void (*free)(void *state);
};

/* An ELF file, or an image in memory (then path is its name, and there is no debug file). */
struct elf_source_options {
	const char *path;
	const void *image; /* NULL: the file at path */
	size_t image_len;
	const uint8_t *build_id; /* as recorded */
	size_t build_id_len;     /* 0: not recorded */
	const char *debug_root;  /* NULL: /usr/lib/debug */
	/* NULL: no servers are used; must outlive the source. */
	struct debug_server *debug_server;
	bool leaves_lines; /* symbolizer_leave_installed_lines() */
};

/* Never fails: an unreadable file has no names, and notes say why. */
void *elf_source_new(const struct elf_source_options *options, struct intern *strings,
		     struct notes *notes);
extern const struct symbol_source elf_source;

/* Address ranges with plain names: perf maps and jitdumps. */
void *perf_map_source_new(const char *text, size_t len, struct intern *strings);
void *jitdump_source_new(const char *name, const void *data, size_t len, struct intern *strings,
			 struct notes *notes);
extern const struct symbol_source named_ranges_source;

/* The bytes of this process's own vDSO, or NULL if there is none. */
const void *vdso_image(size_t *out_len);
