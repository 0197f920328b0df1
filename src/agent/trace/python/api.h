/*
 * symbols - functions and variables of the CPython that is traced, by their names.
 *
 * They are looked up where it is: they may not be in the global scope (RTLD_LOCAL), or be another's
 * there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "agent/core/entries.h"

/*
 * Whether a program or library that is loaded uses a name of another's: one that it would find
 * by dlsym() is not seen.
 */
bool trace_symbol_is_wanted(const char *name);
/* A function or variable of the traced interpreter; NULL: it has none of that name. */
void *trace_symbol(const char *name);
/* The same, for ENTRIES_FIND() (core/entries.h). */
void *trace_symbol_find(void *unused, const char *name);
/* The functions of a list into its struct; false: it has not all of them. */
#define TRACE_SYMBOLS_FIND(out, MAP) ENTRIES_FIND(out, MAP, trace_symbol_find, NULL)
/* PyThreadState_GetUnchecked(), which has another name up to 3.12; NULL: there is none. */
void *trace_symbol_of_state(void);
