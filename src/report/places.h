/*
 * places - shows where the functions of a table are ("worker.py:12"), short but unambiguous.
 *
 * A path is cut to its last component, and as many more as are needed to distinguish functions
 * of the same name: <module> in app/__init__.py and in jobs/__init__.py.
 */
#pragma once
#include <stddef.h>

struct group;
struct text;

/* How many path components to show for each of count rows. The caller frees it. */
unsigned int *places_components(const struct group *rows, size_t count);
/* Adds nothing for a row without a file (not even "-"). */
void places_add(struct text *out, const struct group *row, unsigned int components);
/*
 * Adds "tests/", "app.py": the last component of the path's first `length` bytes; nothing if
 * length is 0.
 */
void places_add_common(struct text *out, const char *file, size_t length);
