/*
 * elf_header - what the first bytes of an ELF file say of it.
 *
 * Reads headers only, with pread(2), never a whole file and never through libelf: it is
 * called for each file that gets mapped while recording.  Not a reader of symbols: that
 * is symbol/.  Files of the other byte order are refused.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define ELF_BUILD_ID_MAX 20 /* a SHA-1; what the kernel keeps of longer ones too */

struct elf_header {
	bool is_64bit;
	uint16_t machine;     /* EM_X86_64, … */
	uint16_t type;        /* ET_EXEC, ET_DYN, … */
	bool has_interpreter; /* PT_INTERP: the dynamic loader starts it */
	/*
	 * A program that no dynamic loader starts, static-pie included: nothing can be
	 * preloaded into it.  A shared library, or the loader itself, is not static.
	 */
	bool is_static;
	char interpreter[256]; /* "" if there is none, or its path is longer */
};

/* -ENOEXEC: not an ELF file, or a damaged one. */
int elf_header_read(const char *path, struct elf_header *out_header, struct error *err);
/* The same of an open file; name is for the sentence. */
int elf_header_read_fd(int fd, const char *name, struct elf_header *out_header,
		       struct error *err);

/*
 * The build id from the PT_NOTE segments: its length, at most ELF_BUILD_ID_MAX (the rest is
 * cut off); 0 if the file has none, or cannot be read, or is no regular file.
 */
size_t elf_build_id_read(const char *path, uint8_t out_id[ELF_BUILD_ID_MAX]);
size_t elf_build_id_read_fd(int fd, uint8_t out_id[ELF_BUILD_ID_MAX]);
/* The build id among the notes of one segment or section, whose alignment is 4 or 8. */
size_t elf_build_id_of_notes(const void *notes, size_t len, uint64_t align,
			     uint8_t out_id[ELF_BUILD_ID_MAX]);
