/* diff_picture - writes the flame graph of differences for fathom diff -o. */
#pragma once
#include "export/difference.h"

struct error;

/*
 * -EINVAL and a sentence if the name does not end in .svg or .html, or the file is something
 * else.
 */
int diff_picture_check(const char *path, struct error *err);
/* widths applies to an image; a page has both. */
int diff_picture_write(const char *path, const struct difference_terms *terms,
		       enum difference_side widths, struct error *err);
