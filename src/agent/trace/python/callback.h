/*
 * callback - Python objects that call a C function of ours directly.
 *
 * Their type, created by us, has its vectorcall (PEP 590) in a word of the object.  With the GIL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef void *trace_vectorcall(void *callable, void *const *arguments, size_t count,
			       void *names);

/* Begins with an interpreter, perhaps a new one.  False: it lacks functions that are needed. */
bool trace_callback_begin(bool is_free_threaded);
/* Creates the type: a new reference; NULL: an error is set. */
void *trace_callback_make_type(void);
/* Creates an object of that type, likewise. */
void *trace_callback_make(void *type, trace_vectorcall *function);
