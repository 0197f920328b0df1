/*
 * symbolizer - addresses to functions, files, lines and inlined calls.
 *
 * One file per source of names (ELF symbol tables, DWARF, perf maps, jitdumps, the
 * vDSO), composed here.  Each module is opened once, each address looked up once.
 * Finds separate debug files by build id and debuglink, .gnu_debugdata inside the file;
 * goes to the network only if it is asked to.  A file whose build id differs from the recorded one is
 * not used: its addresses stay module+0xoffset, and a note says so.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "location.h"

struct error;
struct notes;
struct symbolizer;
struct symbol_module;

/* notes may be NULL. */
struct symbolizer *symbolizer_new(struct notes *notes);
/* Looks for separate debug files here, not in /usr/lib/debug. Before modules are opened. */
void symbolizer_set_debug_root(struct symbolizer *symbolizer, const char *path);
/*
 * Debug files below that folder give names, by their symbol tables, and no lines nor inlined
 * calls: libdw unpacks all of a file for the first of these (60 ms for libc's).  Before modules
 * are opened.  Debug files elsewhere are read, since they may be built anew.
 */
void symbolizer_leave_installed_lines(struct symbolizer *symbolizer);
/*
 * Files without a symbol table whose debug file is not here: it is asked for from the servers of
 * DEBUGINFOD_URLS, if that is set.  Before modules are opened; progress, in bytes, may be NULL.
 */
void symbolizer_ask_servers(struct symbolizer *symbolizer,
			    void (*progress)(void *context, size_t done, size_t total),
			    void *context);
void symbolizer_free(struct symbolizer *symbolizer);
void symbolizer_freep(struct symbolizer **symbolizer);

/*
 * Modules live as long as the symbolizer; files are read at the first look-up, and a path
 * that is opened again with the same build id is the same module.  Opening never fails: a
 * file that cannot be read, is no ELF file, or is another build gives a module whose
 * addresses have no names, and a note.
 */
struct symbol_module *symbolizer_open_elf(struct symbolizer *symbolizer, const char *path,
					  const uint8_t *build_id, size_t build_id_len);
/* A file that was deleted or never was one: its bytes, which the caller keeps alive. */
struct symbol_module *symbolizer_open_image(struct symbolizer *symbolizer, const char *name,
					    const void *image, size_t len);
/* This machine's own vDSO, read from memory. */
struct symbol_module *symbolizer_open_vdso(struct symbolizer *symbolizer);
/* Text of a /tmp/perf-PID.map, or the bytes of a jitdump; addresses are plain ones. */
struct symbol_module *symbolizer_open_perf_map(struct symbolizer *symbolizer, const char *name,
					       const void *text, size_t len);
struct symbol_module *symbolizer_open_jitdump(struct symbolizer *symbolizer, const char *name,
					      const void *data, size_t len);

/*
 * Code was made in [start, end): its addresses without names are one place, called
 * "module+0xstart…0xend".  Regions that touch are one.
 */
void symbol_module_add_region(struct symbol_module *module, uint64_t start, uint64_t end);

/*
 * Looks an address up: a file offset for ELF files, the plain address for maps.
 * Calls visit for each location, innermost first; at least once.  Strings live as long as
 * the symbolizer.  *out_address (may be NULL) is the ELF virtual address, or the address.
 */
void symbol_module_look_up(struct symbol_module *module, uint64_t address,
			   void (*visit)(void *context, const struct symbol_location *location),
			   void *context, uint64_t *out_address);

/* Whether an address that was looked up may have lines that were left. */
bool symbol_module_has_unread_lines(const struct symbol_module *module);

/* The build id of an ELF file in out_id (20 bytes at most): its length, 0 if it has none or
 * cannot be read. */
size_t symbol_read_build_id(const char *path, uint8_t out_id[20]);
