/*
 * diff_picture - what fathom diff -o writes: a flame graph of what changed.
 */
#pragma once
#include "export/difference.h"

struct error;

/* -EINVAL and a sentence: the file is not called .svg or .html, or is another's. */
int diff_picture_check(const char *path, struct error *err);
/* The widths are of an image; a page has both. */
int diff_picture_write(const char *path, const struct difference_terms *terms,
		       enum difference_side widths, struct error *err);
