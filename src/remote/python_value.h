/*
 * python_value - prints a Python object as text, from memory: no code of the program is called.
 *
 * None, bool, int, float, str, bytes, list, tuple, dict and set, and subclasses of these, are
 * shown by their contents; all others as <type at 0x…>. Depth, elements and characters are
 * bounded, so cycles end; inconsistent or unreadable objects are <unreadable at 0x…>.
 *
 * CPython 3.6 and later. Sources: Include/cpython/ and Objects/ of each version.
 */
#pragma once
#include <stdint.h>

struct mem;
struct python_layout;
struct text;

void python_value_add(struct mem *mem, const struct python_layout *layout, uint64_t object,
		      struct text *out);
