/*
 * function_origin - where a function comes from (the program's own code, a package, the
 * standard library, the system), and the name of that origin.
 */
#pragma once
#include <stdbool.h>

#include "profile/origin.h"

struct function;
struct profile;

/* The name lives as long as the profile does. */
struct origin_name function_origin(const struct profile *profile,
				   const struct function *function);
/*
 * Whether its name is that of a standard library compiled into the program, or of code that a
 * compiler adds around main().
 */
bool function_is_of_toolchain(const char *name);
/* Whether it is of parking_lot, the crate of locks that Rust programs use beside std's. */
bool function_is_of_parking_lot(const char *name);
/*
 * Whether the symbolizer composed its name of module and offset: "libz.so.1+0x2f10". Code made
 * in memory, [anon], never has names.
 */
bool function_is_nameless(const struct profile *profile, const struct function *function);
/*
 * Whether it is part of Python's import system or Ruby's require, between an import and the
 * module that it loads; or a module's code, if its name is like "import json".
 */
bool function_is_import(const struct function *function);
