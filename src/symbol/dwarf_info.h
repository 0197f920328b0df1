/*
 * dwarf_info - functions, inlined calls, files and lines by DWARF.
 *
 * Units are found by their address ranges; only those that hold an address that is asked
 * for are read.  Damaged information gives fewer names.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_info;
struct elf_image;
struct intern;

/* One function at an address. */
struct dwarf_frame {
	const char *name; /* as in DWARF; NULL: only the line is known */
	bool is_mangled;  /* name is the mangled one, complete */
	bool is_inlined;
	const char *file; /* of its definition; NULL unknown */
	uint32_t line;
	const char *line_file; /* being executed; NULL unknown */
	uint32_t line_number;
};

#define DWARF_FRAMES_MAX 128

/*
 * NULL when the image has no DWARF that can be read.  alt may be NULL; both images and the
 * strings, which frames' strings are added to, are borrowed until dwarf_info_free().
 */
struct dwarf_info *dwarf_info_new(const struct elf_image *image, const struct elf_image *alt,
				  struct intern *strings);
/*
 * The functions at a virtual address, innermost first, into frames: how many.  When there
 * are more than DWARF_FRAMES_MAX, calls next to the outermost one are left out.
 */
size_t dwarf_info_look_up(struct dwarf_info *info, uint64_t address,
			  struct dwarf_frame frames[DWARF_FRAMES_MAX]);
/* The line of an address; false and outputs untouched if it has none. */
bool dwarf_info_find_line(struct dwarf_info *info, uint64_t address, const char **out_file,
			  uint32_t *out_line);
void dwarf_info_free(struct dwarf_info *info);
