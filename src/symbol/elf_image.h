/*
 * elf_image - an ELF file opened through libelf.
 *
 * Sections are read when needed, never mapped: a file truncated meanwhile causes missing names,
 * not SIGBUS. Does not deal with symbols.
 */
#pragma once
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/build_id.h"

struct error;

/* A PT_LOAD segment. */
struct elf_segment {
	uint64_t address;
	uint64_t offset;
	uint64_t file_len;
	uint32_t flags; /* PF_X, … */
};

struct elf_image {
	Elf *elf;
	GElf_Ehdr header;
	int fd;          /* -1: in memory, or closed */
	void *owned;     /* malloc'ed memory behind elf, or NULL */
	char *path;      /* as opened, or the name of an image that never was a file */
	size_t file_len; /* sections may not extend beyond it */
	struct elf_segment *segments;
	size_t segment_count;
	size_t build_id_len;
	uint8_t build_id[ELF_BUILD_ID_MAX];
};

int elf_image_open(const char *path, struct elf_image **out_image, struct error *err);
/* The bytes are borrowed until elf_image_free(). */
int elf_image_open_memory(const char *name, const void *bytes, size_t len,
			  struct elf_image **out_image, struct error *err);
/* Takes bytes, which were malloc'ed, whatever the result. */
int elf_image_open_owned(const char *name, void *bytes, size_t len,
			 struct elf_image **out_image, struct error *err);
/*
 * Closes the file: sections already read stay valid, others become unreadable. Needed because a
 * recording can have more modules than a process may have open files.
 */
void elf_image_close_file(struct elf_image *image);
void elf_image_free(struct elf_image *image);

/* The section of that name, its header in *out_header; NULL if there is none. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name,
			   GElf_Shdr *out_header);
/* The first section of that type. */
Elf_Scn *elf_image_section_of_type(const struct elf_image *image, uint32_t type,
				   GElf_Shdr *out_header);
/*
 * A section's bytes, decompressed, and their number; NULL if it has none in the file or is
 * damaged. They live as long as the image.
 */
const void *elf_image_section_bytes(const struct elf_image *image, const char *name,
				    size_t *out_len);

/*
 * The virtual address of a file offset, by PT_LOAD segments, code first; false if there is
 * none.
 */
bool elf_image_address(const struct elf_image *image, uint64_t file_offset,
		       uint64_t *out_address);
/* The total unpacked size that the image's compressed sections claim. */
uint64_t elf_image_unpacked_size(const struct elf_image *image);
