/*
 * function_origin - where a function comes from: the program's own code, a package, the standard
 * library, the system, and what that is called.
 */
#pragma once
#include <stdbool.h>

#include "profile/origin.h"

struct function;
struct profile;

/* The name lives as long as the profile does. */
struct origin_name function_origin(const struct profile *profile,
				   const struct function *function);
/* By its name: of a standard library compiled into the program, or what a compiler puts around main(). */
bool function_is_of_toolchain(const char *name);
/*
 * Whether the symbolizer made its name of its module and its place: "libz.so.1+0x2f10".  Of code that
 * was made in memory, [anon], there are no names to be had.
 */
bool function_is_nameless(const struct profile *profile, const struct function *function);
/*
 * Of Python's import system or Ruby's require, between an import and the module that it loads; or
 * a module's code, where it has the name "import json".
 */
bool function_is_import(const struct function *function);
