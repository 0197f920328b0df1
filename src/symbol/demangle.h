/* demangle - converts C++ and Rust symbols to readable names. */
#pragma once
#include <stdbool.h>

struct intern;

/* Whether the name looks like a mangled C++ or Rust name. */
bool is_mangled_name(const char *name);

/*
 * The readable form of a symbol's name, kept in strings: C++ with its parameters, Rust (both
 * manglings) without its hash; other names, and those too large when expanded, unchanged. A
 * version after '@' is removed.
 */
const char *demangle(struct intern *strings, const char *name);
