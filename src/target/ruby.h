/*
 * ruby - analyses a mapped file that contains CRuby, from outside.
 *
 * Facts that hold for every process that maps the file are determined once: whether it contains
 * an interpreter, its version, the addresses of its loop and its instructions, and the offsets
 * that a walk needs. Nothing in the file is trusted unchecked.
 */
#pragma once
#include <stdint.h>

#include "abi/ruby_layout.h"

struct error;
struct ruby_image;

/* As python_image_read(): 0; -ENOENT, err untouched; or another negative errno. */
int ruby_image_read(const char *path, struct ruby_image **out_image, struct error *err);
void ruby_image_free(struct ruby_image *image);

/* "3.1.2", "3.4.0preview1"; "?" if unknown. */
const char *ruby_image_version(const struct ruby_image *image);
/*
 * Why its frames cannot be walked, a sentence without a full stop ("CRuby 4.2.0 is not known
 * yet"); NULL: they can.
 */
const char *ruby_image_why_not(const struct ruby_image *image);
/* The layout for a process that has the file at this load bias. */
void ruby_image_layout(const struct ruby_image *image, uint64_t load_bias,
		       struct ruby_layout *out_layout);
/* rb_waitpid(), by which every method and thread waits for children; empty: the file lacks it. */
struct code_range ruby_image_waitpid(const struct ruby_image *image, uint64_t load_bias);
/* Uses the program's copies of variables, if it has any (layout_symbols_use_copies()). */
void ruby_layout_use_copies(struct ruby_layout *layout, const char *path, uint64_t load_bias);
