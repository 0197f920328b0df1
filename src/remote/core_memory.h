/*
 * core_memory - reads memory from a core file, completed by the files that were mapped.
 *
 * A core leaves out memory that equals a file's: code, unwind tables, constants. These pages
 * are read from the files at the paths that the core lists, but only if a file is the one that
 * was mapped: by its build id or, without one, by its first page.
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
	CORE_FIT_UNKNOWN, /* not compared yet */
	CORE_FIT_SAME,    /* the file is the one that was mapped */
	CORE_FIT_ASSUMED, /* the core has no bytes to compare; the file's length and type fit */
	CORE_FIT_OTHER,   /* another build */
	CORE_FIT_ABSENT,  /* it cannot be read here */
};

/* A mapped file; one for all of its mappings. */
struct core_backing;

struct core {
	struct core_file file;
	char *path;    /* of the core, as it was given */
	char *program; /* read instead of the program's own file; NULL: not given */
	char *root;    /* prefix of all other paths */
	struct core_backing *backings; /* by core_mapping.file */
	size_t backing_count;
	uint32_t program_file; /* the program's core_mapping.file; 0: unknown */
};

/*
 * Opens the core. program, root: may be NULL. On success core_free(). Fails as core_file_open()
 * does, or because the given program is not the core's.
 */
int core_new(const char *path, const char *program, const char *root, struct core **out_core,
	     struct error *err);
void core_free(struct core *core);

/* The mappings as /proc/PID/maps would list them: maps_free(). */
struct maps *core_maps(const struct core *core);
/* The fetch function of struct memory_source: context is the struct core. */
bool core_fetch(void *context, uint64_t address, void *page, bool *out_is_lasting);

/* The path from which we read the file mapped at the address: the caller's; NULL: no file. */
char *core_path_at(const struct core *core, uint64_t address);
/* How surely that file is the one that was mapped. */
enum core_fit core_fit_at(struct core *core, uint64_t address);
