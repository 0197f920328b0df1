/*
 * debug_files - finds separate debug files on this machine.
 *
 * By build id under /usr/lib/debug/.build-id; by .gnu_debuglink next to the file, in its
 * folder's .debug/ and under /usr/lib/debug; the file shared by debug files (.gnu_debugaltlink,
 * made by dwz) likewise. A file is used only if it has the same build id, or the checksum of
 * the link.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct notes;

/*
 * Returns the separate debug file, which the caller frees, or NULL. root: NULL for
 * /usr/lib/debug.
 */
struct elf_image *debug_file_open(const struct elf_image *image, const char *root,
				  struct notes *notes);
/* Whether it was found below root, where packages install files and nothing is rebuilt. */
bool debug_file_is_installed(const struct elf_image *debug, const char *root);
/*
 * Stores the shared file that image's DWARF refers to in *out_alt (the caller's; NULL if it
 * needs none). -ENOENT: it needs one that is missing here.
 */
int debug_file_open_alt(const struct elf_image *image, const char *root,
			struct elf_image **out_alt);
/* The checksum of .gnu_debuglink: CRC-32 of IEEE 802.3. Start with crc = 0. */
uint32_t debug_link_crc(uint32_t crc, const void *data, size_t len);
