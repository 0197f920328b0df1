/*
 * python - analyses a mapped file that contains CPython, from outside.
 *
 * Facts that hold for every process that maps the file are determined once: whether it contains
 * an interpreter, its version, its eval loop's address, and the offsets that a walk needs.
 * Nothing in the file is trusted unchecked.
 */
#pragma once
#include <stdint.h>

#include "abi/python_layout.h"

struct error;
struct python_image;

/*
 * Looks for an interpreter in the ELF file at path. 0 and the caller's *out_image:
 * python_image_free(); or -ENOENT, err untouched, if there is none (which costs only a lookup
 * in the file's symbol hash); or another negative errno and a sentence if the file cannot be
 * read. An interpreter that cannot be walked is a success: python_image_why_not().
 */
int python_image_read(const char *path, struct python_image **out_image, struct error *err);
void python_image_free(struct python_image *image);

/* "3.11.2", "2.7.18", "3.15.0b1"; "3.16?" if no more is known. */
const char *python_image_version(const struct python_image *image);
/*
 * Why its frames cannot be walked, a sentence without a full stop ("CPython 3.16 is not known
 * yet: add a row to …"); NULL: they can.
 */
const char *python_image_why_not(const struct python_image *image);
/* The layout for a process that has the file at this load bias. */
void python_image_layout(const struct python_image *image, uint64_t load_bias,
			 struct python_layout *out_layout);
/* Uses the program's copies of type objects, if it has any (layout_symbols_use_copies()). */
void python_layout_use_copies(struct python_layout *layout, const char *path,
			      uint64_t load_bias);
