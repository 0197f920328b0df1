/*
 * callback - objects that an interpreter calls, with nothing of its own in between.
 *
 * They are of a type of ours whose vectorcall (PEP 590) is a word of the object.  All of this with
 * the GIL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef void *trace_vectorcall(void *callable, void *const *arguments, size_t count,
			       void *names);

/* Of an interpreter that may be another one than before.  False: it does not export what it takes. */
bool trace_callback_begin(bool is_free_threaded);
/* A new reference; NULL: there is an error set. */
void *trace_callback_make_type(void);
/* An object of that type; as above. */
void *trace_callback_make(void *type, trace_vectorcall *function);
