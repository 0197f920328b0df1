/*
 * symbolizer - maps addresses to functions, files, lines and inlined calls.
 *
 * Combines the sources of names, which are a file each (ELF symbol tables, DWARF, perf maps,
 * jitdumps, the vDSO). Each module is opened once, each address looked up once. Finds separate
 * debug files by build id and debuglink, and .gnu_debugdata inside the file; uses the network
 * only on request. A file whose build id differs from the recorded one is not used: its
 * addresses stay module+0xoffset, and a note says so.
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
/*
 * Sets the folder of separate debug files, instead of /usr/lib/debug. Call before opening
 * modules.
 */
void symbolizer_set_debug_root(struct symbolizer *symbolizer, const char *path);
/*
 * Uses debug files below that folder only for names from their symbol tables, not for lines and
 * inlined calls, for which libdw unpacks the whole file (60 ms for libc's). Debug files
 * elsewhere are read in full, since they may have been rebuilt. Call before opening modules.
 */
void symbolizer_leave_installed_lines(struct symbolizer *symbolizer);
/*
 * Requests missing debug files of stripped modules from the servers of DEBUGINFOD_URLS, if that
 * is set. Call before opening modules; progress, in bytes, may be NULL.
 */
void symbolizer_ask_servers(struct symbolizer *symbolizer,
			    void (*progress)(void *context, size_t done, size_t total),
			    void *context);
void symbolizer_free(struct symbolizer *symbolizer);
void symbolizer_freep(struct symbolizer **symbolizer);

/*
 * Modules live as long as the symbolizer; files are read on the first lookup, and opening the
 * same path and build id again returns the same module. Opening never fails: a file that cannot
 * be read, is not ELF, or is another build gives a module whose addresses have no names, and a
 * note.
 */
struct symbol_module *symbolizer_open_elf(struct symbolizer *symbolizer, const char *path,
					  const uint8_t *build_id, size_t build_id_len);
/*
 * Opens a deleted file, or an image that never was a file: its bytes, which the caller keeps
 * alive.
 */
struct symbol_module *symbolizer_open_image(struct symbolizer *symbolizer, const char *name,
					    const void *image, size_t len);
/* Opens this machine's own vDSO, read from memory. */
struct symbol_module *symbolizer_open_vdso(struct symbolizer *symbolizer);
/* Open the text of a /tmp/perf-PID.map, or the bytes of a jitdump; addresses are plain ones. */
struct symbol_module *symbolizer_open_perf_map(struct symbolizer *symbolizer, const char *name,
					       const void *text, size_t len);
struct symbol_module *symbolizer_open_jitdump(struct symbolizer *symbolizer, const char *name,
					      const void *data, size_t len);

/*
 * Declares that code was generated in [start, end): addresses in it without names are one
 * place, "module+0xstart…0xend". Regions that touch are merged.
 */
void symbol_module_add_region(struct symbol_module *module, uint64_t start, uint64_t end);

/*
 * Looks an address up: a file offset for ELF files, the plain address for maps. Calls visit for
 * each location, innermost first, at least once. Strings live as long as the symbolizer.
 * *out_address (may be NULL) is the ELF virtual address, or the address.
 */
void symbol_module_look_up(struct symbol_module *module, uint64_t address,
			   void (*visit)(void *context, const struct symbol_location *location),
			   void *context, uint64_t *out_address);

/* Whether lines of addresses looked up were skipped in installed debug files. */
bool symbol_module_has_unread_lines(const struct symbol_module *module);

/*
 * Stores the build id of an ELF file in out_id (at most 20 bytes) and returns its length, 0 if
 * it has none or cannot be read.
 */
size_t symbol_read_build_id(const char *path, uint8_t out_id[20]);
