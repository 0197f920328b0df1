/*
 * images - the ELF files that a process has mapped, by what it has of them in its memory.
 *
 * Program headers and build ids are read where they are mapped, so that files that were deleted,
 * replaced, or lie in another mount namespace are no different, nor are core files.
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
	struct native_image native; /* and its unwind table */
	uint64_t bias;              /* what is added to the file's addresses */
	const char *path; /* as the process names it; "[vdso]"; lives as long as maps */
	bool is_deleted;  /* the path leads to another file, or none */
	bool has_code;
	bool is_agent; /* fathom's own: what it interposes is no function of the program's */
	const struct unwind_file *file; /* of a followed process, or of Go; or NULL */
	uint32_t file_id;               /* of an unwind_file (unwind_files.h); 0: none */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none */
};

struct remote_images {
	struct remote_image *images; /* in the order of addresses */
	size_t count, capacity;
};

/*
 * The image's bias and unwind table, by its program headers, which are mapped at native.start with
 * the file's beginning.  False if there are none.
 */
bool remote_image_read_headers(struct remote_image *image, struct mem *mem);
/* maps must outlive the images. */
void remote_images_read(struct remote_images *images, const struct maps *maps, struct mem *mem);
void remote_images_done(struct remote_images *images);
/* Whether a file, or what a process names it, is an agent of a recording. */
bool remote_path_is_agent(const char *path);
/* The image that covers the address, or NULL. */
const struct remote_image *remote_images_find(const struct remote_images *images,
					      uint64_t address);
/* What the file at path exports under the name, in a process that has it at the bias; 0: nothing. */
uint64_t remote_symbol_at(const char *path, uint64_t bias, const char *name);
/* The file's own place of an address: what a symbolizer looks up; 0 if it is in no file. */
uint64_t remote_file_offset(const struct maps *maps, uint64_t address);
