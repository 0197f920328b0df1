/*
 * late - interpreters that come into a process after it has begun.
 *
 * A program that embeds an interpreter may load it when it pleases, itself or as what a plug-in
 * of its needs.  Hooks have to be there before that interpreter begins, and the recorder would
 * see it some milliseconds later.  Nobody tells of dlopen(): what that finds depends on who
 * calls it, so we do not stand before it.  But an interpreter that begins calls functions that
 * we do stand before (pthread_setspecific(), getenv()), and the first call that comes from an
 * image which was not there at the start is answered when the recorder has looked at it.
 *
 * Its functions are looked up where it is: their names may not be in the global scope
 * (RTLD_LOCAL), or be another's there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "agent/core/entries.h"

/* A function that an interpreter calls as it begins was called from there. */
void trace_late_look(const void *caller);
/* Images may have gone. */
void trace_late_flush(void);
/*
 * Whether a program or library that is loaded uses a name of another's: one that it would find
 * by dlsym() is not seen.
 */
bool trace_late_is_wanted(const char *name);
/* A function or variable of the traced interpreter; NULL: it has none of that name. */
void *trace_late_symbol(const char *name);
/* The same, for ENTRIES_FIND() (core/entries.h). */
void *trace_late_find(void *unused, const char *name);
/* The functions of a list into its struct; false: it has not all of them. */
#define TRACE_LATE_FIND(out, MAP) ENTRIES_FIND(out, MAP, trace_late_find, NULL)
/* PyThreadState_GetUnchecked(), which has another name up to 3.12; NULL: there is none. */
void *trace_late_get_state(void);
