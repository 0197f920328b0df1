/*
 * build_id - reads an ELF file's build id, by which linkers distinguish builds of a file.
 *
 * Reads headers only, with pread(2), never a whole file and never through libelf: it is called
 * for each file that is mapped while recording. Files of the other byte order count as having
 * none.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 20 /* a SHA-1; the kernel cuts longer ones to this, too */

/*
 * The build id from the PT_NOTE segments: returns its length, at most ELF_BUILD_ID_MAX (longer
 * ones are cut); 0 if the file has none, cannot be read, or is no regular file.
 */
size_t elf_build_id_read(const char *path, uint8_t out_id[ELF_BUILD_ID_MAX]);
size_t elf_build_id_read_fd(int fd, uint8_t out_id[ELF_BUILD_ID_MAX]);
/* Finds the build id among the notes of one segment or section, whose alignment is 4 or 8. */
size_t elf_build_id_of_notes(const void *notes, size_t len, uint64_t align,
			     uint8_t out_id[ELF_BUILD_ID_MAX]);
