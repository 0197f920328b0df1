/*
 * core_memory - the memory of a core file, and of the files that were mapped, as a process's.
 *
 * A core leaves out what files have: code, unwind tables, constants.  That is read in the files
 * by the paths in the core, but only in those that are what was mapped, by their build id, or,
 * without one, by their first page.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/core_file.h"

struct error;
struct maps;
struct notes;
struct text;

enum core_fit {
	CORE_FIT_UNKNOWN, /* not looked at yet */
	CORE_FIT_SAME,    /* the file is the one that was mapped */
	CORE_FIT_ASSUMED, /* the core has nothing to know it by; the file's length and type do */
	CORE_FIT_OTHER,   /* another build */
	CORE_FIT_ABSENT,  /* it cannot be read here */
};

/* A file that was mapped, once for all of its mappings. */
struct core_backing;

struct core {
	struct core_file file;
	char *path;    /* of the core, as it was given */
	char *program; /* to be read in place of the program's file; NULL: by its path */
	char *root;    /* in front of all other paths */
	struct core_backing *backings; /* by core_mapping.file */
	size_t backing_count;
	uint32_t program_file; /* of core_mapping.file; 0: not known */
};

/*
 * Opens the core.  program, root: may be NULL.  On success core_free(); else as
 * core_file_open(), or the program is another than the core's.
 */
int core_new(const char *path, const char *program, const char *root, struct core **out_core,
	     struct error *err);
void core_free(struct core *core);

/* What was mapped, as /proc/PID/maps would have it: maps_free(). */
struct maps *core_maps(const struct core *core);
/* For struct memory_source: context is the struct core. */
bool core_fetch(void *context, uint64_t address, void *page, bool *out_is_lasting);

/* Where the file is read that was mapped at the address: the caller's; NULL: none was. */
char *core_path_at(const struct core *core, uint64_t address);
/* How far it is known to be the same. */
enum core_fit core_fit_at(struct core *core, uint64_t address);
