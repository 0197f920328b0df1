/*
 * ruby - the CRuby interpreter in a mapped file, seen from outside.
 *
 * What holds for every process that maps the file is found out once: whether there is an
 * interpreter in it, its version, where its loop and its instructions are, and where its
 * objects keep what a walk reads.  Nothing in the file is believed unchecked.
 */
#pragma once
#include <stdint.h>

#include "abi/ruby_layout.h"

struct error;
struct ruby_image;

/* As python_image_read(): 0; -ENOENT, err untouched; or another negative errno. */
int ruby_image_read(const char *path, struct ruby_image **out_image, struct error *err);
void ruby_image_free(struct ruby_image *image);

/* "3.1.2", "3.4.0preview1"; "?" where not even that is known. */
const char *ruby_image_version(const struct ruby_image *image);
/*
 * Why its frames cannot be walked, in a sentence without its end ("CRuby 4.2.0 is not known
 * yet"); NULL: they can.
 */
const char *ruby_image_why_not(const struct ruby_image *image);
/* The layout in a process that has the file at this load bias. */
void ruby_image_layout(const struct ruby_image *image, uint64_t load_bias,
		       struct ruby_layout *out_layout);
/* Variables of which the process's program has copies (layout_symbols_use_copies()). */
void ruby_layout_use_copies(struct ruby_layout *layout, const char *path, uint64_t load_bias);
