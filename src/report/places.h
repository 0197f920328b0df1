/*
 * places - "worker.py:12": where the functions of a table are, short, and never two alike.
 *
 * A path is cut to its last part, and to as many more as it takes to distinguish functions of the same
 * name apart: <module> in app/__init__.py and in jobs/__init__.py.
 */
#pragma once
#include <stddef.h>

struct group;
struct text;

/* How many components of its path to show, for each of count rows.  The caller frees it. */
unsigned int *places_components(const struct group *rows, size_t count);
/* "-" is not written: nothing for a row without a file. */
void places_add(struct text *out, const struct group *row, unsigned int components);
/* "tests/", "app.py": the last component of so many bytes of a path; nothing of none. */
void places_add_common(struct text *out, const char *file, size_t length);
