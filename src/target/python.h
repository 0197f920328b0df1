/*
 * python - the CPython interpreter in a mapped file, seen from outside.
 *
 * What holds for every process that maps the file is found out once: whether there is an
 * interpreter in it, its version, where its loop is, and where its objects keep what a walk
 * reads.  Nothing in the file is believed unchecked.
 */
#pragma once
#include <stdint.h>

#include "abi/python_layout.h"

struct error;
struct python_image;

/*
 * Looks for an interpreter in the ELF file at path.  0 and the caller's *out_image:
 * python_image_free(); or -ENOENT, err untouched, when there is none (which costs no more than
 * a look-up in the file's symbol hash); or another negative errno and a sentence for a file
 * that cannot be read.  An interpreter that is there but cannot be walked is a success:
 * python_image_why_not().
 */
int python_image_read(const char *path, struct python_image **out_image, struct error *err);
void python_image_free(struct python_image *image);

/* "3.11.2", "2.7.18", "3.15.0b1"; "3.16?" where only as much is known. */
const char *python_image_version(const struct python_image *image);
/*
 * Why its frames cannot be walked, in a sentence without its end ("CPython 3.16 is not known
 * yet: add a row to …"); NULL: they can.
 */
const char *python_image_why_not(const struct python_image *image);
/* The layout in a process that has the file at this load bias. */
void python_image_layout(const struct python_image *image, uint64_t load_bias,
			 struct python_layout *out_layout);
/* Type objects of which the process's program has copies (layout_symbols_use_copies()). */
void python_layout_use_copies(struct python_layout *layout, const char *path,
			      uint64_t load_bias);
