/*
 * dwarf_info - looks up functions, inlined calls, files and lines in DWARF.
 *
 * Units are found by their address ranges; only units that contain a requested address are
 * read. Damaged information yields fewer names.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_info;
struct elf_image;
struct intern;

/* One of the functions at an address. */
struct dwarf_frame {
	const char *name; /* as in DWARF; NULL: only the line is known */
	bool is_mangled;  /* name is the complete mangled name */
	bool is_inlined;
	const char *file; /* of its definition; NULL: unknown */
	uint32_t line;
	const char *line_file; /* of the line being executed; NULL: unknown */
	uint32_t line_number;
};

#define DWARF_FRAMES_MAX 128

/*
 * NULL if the image has no readable DWARF. alt may be NULL; both images and strings are
 * borrowed until dwarf_info_free(). Frames' strings are added to strings.
 */
struct dwarf_info *dwarf_info_new(const struct elf_image *image, const struct elf_image *alt,
				  struct intern *strings);
/*
 * Stores the functions at a virtual address in frames, innermost first, and returns how many.
 * If there are more than DWARF_FRAMES_MAX, calls next to the outermost one are left out.
 */
size_t dwarf_info_look_up(struct dwarf_info *info, uint64_t address,
			  struct dwarf_frame frames[DWARF_FRAMES_MAX]);
/* The line of an address; false, with outputs untouched, if it has none. */
bool dwarf_info_find_line(struct dwarf_info *info, uint64_t address, const char **out_file,
			  uint32_t *out_line);
void dwarf_info_free(struct dwarf_info *info);
