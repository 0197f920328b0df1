/*
 * modules - opens the sources of names for each module of a recording.
 *
 * An ELF file is opened by its path and build id, or from the copy in the recording; JIT code
 * from the copy of a jitdump or a perf map of its process.  Each is opened when its first
 * address is looked up, and once.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "record/recording.h"

struct error;
struct notes;
struct recording_reader;
struct symbol_module;
struct symbolizer;

/* A module's sources, tried in this order; at least one once it is open. */
#define SOURCES_PER_MODULE 2

struct module_source {
	struct recording_module module;
	uint32_t process; /* of JIT and unknown modules: the one it was mapped in */
	struct symbol_module *sources[SOURCES_PER_MODULE];
	size_t source_count; /* 0: not opened yet */
};

/* Where a module of code that was made while the program ran was mapped. */
struct made_region {
	uint32_t module;
	uint64_t start, end;
};

/* The bytes of a file that is in the recording. */
struct kept_file {
	uint32_t process;
	const char *path;
	void *data;
	size_t len;
};

/* Zero-initialized is empty. */
struct module_sources {
	struct intern strings;
	struct module_source *modules;
	size_t module_count, module_capacity;
	struct table index_of_id; /* the recording's id to index + 1 */
	struct made_region *regions;
	size_t region_count, region_capacity;
	struct kept_file *files;
	size_t file_count, file_capacity;
	bool is_same_kernel; /* recorded under the kernel that runs here */
};

int module_sources_read(struct module_sources *sources, struct recording_reader *reader,
			struct error *err);
void module_sources_done(struct module_sources *sources);
/* The opened module, or NULL when the recording has none of that id. */
const struct module_source *module_sources_open(struct module_sources *sources, uint32_t id,
						struct symbolizer *symbolizer);
