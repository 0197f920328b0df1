/*
 * images - the ELF files that a process has mapped, described by their headers in its memory.
 *
 * Program headers and build ids are read where they are mapped, so deleted files, replaced
 * files, files in other mount namespaces and core files need no special treatment.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/memory.h"
#include "walk/native.h"

struct maps;
struct mapping;
struct unwind_file;

#define IMAGE_BUILD_ID_MAX 64

struct remote_image {
	struct native_image native; /* with its unwind table */
	uint64_t bias;              /* address in memory minus address in the file */
	const char *path;           /* in the process's view; "[vdso]"; lives as long as maps */
	bool is_deleted;            /* the path leads to no file, or another one */
	bool has_code;
	bool is_agent; /* fathom's agent: the functions it interposes are not the program's */
	const struct unwind_file *file; /* of a followed process, or of a Go program; or NULL */
	uint32_t file_id;               /* of an unwind_file (unwind_files.h); 0: none */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none */
};

struct remote_images {
	struct remote_image *images; /* in the order of addresses */
	size_t count, capacity;
};

/*
 * Sets the image's bias and unwind table from the program headers mapped with the file's
 * beginning at native.start. False if there are none.
 */
bool remote_image_read_headers(struct remote_image *image, struct mem *mem);
/* maps must outlive the images. */
void remote_images_read(struct remote_images *images, const struct maps *maps, struct mem *mem);
void remote_images_done(struct remote_images *images);
/* The image that covers the address, or NULL. */
const struct remote_image *remote_images_find(const struct remote_images *images,
					      uint64_t address);
/*
 * The address of a symbol exported by the file at path, loaded at this bias; 0: no such symbol.
 */
uint64_t remote_symbol_at(const char *path, uint64_t bias, const char *name);
/* The offset in the mapped file, for a symbolizer; 0 if the address is in no file. */
uint64_t remote_file_offset(const struct maps *maps, uint64_t address);
