/*
 * images - which image holds an address, and where its unwind table is.
 *
 * The dynamic linker finds the image (_dl_find_object(), callable in handlers).  Images that the
 * program was started with are never unloaded, nor is the one that the thread is running in:
 * they are read in place.  Any other may be unloaded by another thread at any moment, since what
 * looks like a return address into it may be none; so its memory, and the linker's records of
 * it, are copied to be read.
 */
#pragma once
#include <link.h>
#include <stdbool.h>

#include "abi/types.h"

struct dl_find_object;
struct mem;
struct native_image;

/*
 * The dynamic linker's _dl_find_object(), which may be called in a signal handler (glibc manual,
 * "Dynamic Linker"); NULL before glibc 2.35.
 */
typedef int find_object_function(void *address, struct dl_find_object *out_found);
extern find_object_function *images_find_object;

/*
 * In the constructor: notes the images that are loaded.  is_attached: the program runs already, so the
 * last ones may have been loaded by dlopen().
 */
void images_begin(bool is_attached);
/*
 * Describes the image that holds address, and makes its unwind table readable through mem.
 * is_running: address is the interrupted instruction itself.  Also sends the image to the recorder
 * where no perf event reports mappings (image_records.h).
 */
bool image_find(u64 address, bool is_running, struct mem *mem, struct native_image *out_image);

/* The image that holds address; NULL: none does, or the linker is older than glibc 2.35. */
const struct link_map *images_at(const void *address);
/* An image's program headers, and what is added to their addresses. */
struct images_headers {
	const ElfW(Phdr) * headers;
	u32 count;
	u64 bias;
};
/* For an image that is not unloaded meanwhile; false: they are not where they should be. */
bool images_find_headers(const struct dl_find_object *found, struct images_headers *out);
/* Whether the image was loaded when the program began, and so is never unloaded. */
bool images_is_lasting(const struct link_map *image);
/* An image's tables, by its dynamic section (gABI; DT_GNU_HASH: binutils). */
struct images_tables {
	u64 bias;
	const ElfW(Sym) * symbols;
	const char *names;
	const u32 *gnu_hash;
	const ElfW(Rela) * relocations[2]; /* of data, and of calls */
	u64 counts[2];
	u64 fixed, fixed_end; /* read-only since it was relocated (PT_GNU_RELRO) */
};
/* False: the image has no symbol names. */
bool images_read_tables(const struct dl_phdr_info *info, struct images_tables *tables);
/* Whether an image is linked to a name of another image; use by dlsym() is not seen. */
enum images_want {
	IMAGES_NOT_WANTED,
	IMAGES_WANTED,
	IMAGES_UNKNOWN, /* it has no table that shows how many names it wants */
};
enum images_want images_wanted(const struct dl_phdr_info *info, const char *name);
/* Whether the image that holds address has this load bias. */
bool image_is_at(u64 address, u64 load_bias, struct mem *mem);
