/*
 * debug_files - where the debugging information of a file stands, if not in it.
 *
 * Looks on this machine only: by build id under /usr/lib/debug/.build-id, by
 * .gnu_debuglink beside the file, in .debug/ beside it and under /usr/lib/debug; the file
 * shared between debug files (.gnu_debugaltlink, made by dwz) the same ways.  What is found
 * must have the same build id, or the checksum of the link.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct notes;

/* root: NULL for /usr/lib/debug.  The separate debug file, the caller's, or NULL. */
struct elf_image *debug_file_open(const struct elf_image *image, const char *root,
				  struct notes *notes);
/* Whether it was found below root, where packages put them and nothing is built anew. */
bool debug_file_is_installed(const struct elf_image *debug, const char *root);
/*
 * The shared file that image's DWARF refers to, in *out_alt (the caller's; NULL if it needs
 * none).  -ENOENT: it needs one that is not here.
 */
int debug_file_open_alt(const struct elf_image *image, const char *root,
			struct elf_image **out_alt);
/* The checksum of .gnu_debuglink: CRC-32 of IEEE 802.3. Start with crc = 0. */
uint32_t debug_link_crc(uint32_t crc, const void *data, size_t len);
