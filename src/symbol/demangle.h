/*
 * demangle - C++ and Rust symbols as people write them.
 */
#pragma once
#include <stdbool.h>

struct intern;

/* Whether the name looks like a mangled one of C++ or Rust. */
bool is_mangled_name(const char *name);

/*
 * The readable form of a symbol's name, kept in strings: C++ with its parameters, Rust (both
 * manglings) without its hash; anything else, and what is too large to print, as it is.
 * A version behind '@' is left out.
 */
const char *demangle(struct intern *strings, const char *name);
