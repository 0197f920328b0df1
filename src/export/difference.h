/*
 * difference - what changed between two sets of recordings as a flame graph: boxes as wide as the
 * time of one side, red where a function itself takes more time than before, blue where less.
 *
 * Stacks of both sides are one tree: functions are the same by their names and the names of their
 * files.  A change that the comparison takes for chance is pale.
 */
#pragma once
#include "export/difference_terms.h"

struct error;
struct sink;

/* What each page begins with; the image begins with PICTURE_MARK. */
#define DIFFERENCE_MARK "<!DOCTYPE html>\n<!-- A difference of fathom's -->"

/* As an SVG image whose widths are those of one side.  0, or a negative errno: the sink failed. */
int difference_write_svg(const struct difference_terms *terms, enum difference_side widths,
			 const struct sink *sink, struct error *err);
/* As a page with both, and a button that changes from one to the other. */
int difference_write_html(const struct difference_terms *terms, const struct sink *sink,
			  struct error *err);
