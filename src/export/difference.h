/*
 * difference - draws the difference between two sets of recordings as a flame graph: boxes are
 * as wide as the time of one side, red if a function's self time grew, blue if it shrank.
 *
 * Stacks of both sides form one tree: functions match by name and file name. A change that may
 * be chance is pale.
 */
#pragma once
#include "export/difference_terms.h"

struct error;
struct sink;

/* The beginning of each page; an image begins with PICTURE_MARK. */
#define DIFFERENCE_MARK "<!DOCTYPE html>\n<!-- A difference of fathom's -->"

/* Writes an SVG image with the widths of one side. 0, or a negative errno: the sink failed. */
int difference_write_svg(const struct difference_terms *terms, enum difference_side widths,
			 const struct sink *sink, struct error *err);
/* Writes a page with both sides, and a button that switches between them. */
int difference_write_html(const struct difference_terms *terms, const struct sink *sink,
			  struct error *err);
