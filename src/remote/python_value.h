/*
 * python_value - a Python object as text, by what is in memory: nothing of the program is called.
 *
 * None, bool, int, float, str, bytes, list, tuple, dict and set, and what is derived from them,
 * are shown by what they hold; all else as <type at 0x…>.  Depth, elements and characters are
 * bounded, so that circles end; what is torn or cannot be read is <unreadable at 0x…>.
 *
 * CPython 3.6 and later.  Sources: Include/cpython/ and Objects/ of each version.
 */
#pragma once
#include <stdint.h>

struct mem;
struct python_layout;
struct text;

void python_value_add(struct mem *mem, const struct python_layout *layout, uint64_t object,
		      struct text *out);
