/*
 * methods - an interpreter's functions of C, interposed wherever they are called from.
 *
 * An interpreter calls a function of C by its PyMethodDef, a row of a table that the module
 * has: the address in it is replaced by that of a function of ours.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/python_layout.h"
#include "abi/types.h"
#include "agent/trace/word.h"

/*
 * Include/methodobject.h: how a method is called.  By none of these has it more than four
 * arguments: METH_VARARGS, _KEYWORDS, _NOARGS, _O, _CLASS, _STATIC, and METH_FASTCALL, which
 * has names of keywords with _KEYWORDS; on 3.6 always.
 */
#define TRACE_METHOD_KNOWN 0xbfU

/*
 * self, and what else there is: a tuple and a dict, an object, or an array, its length and
 * names.  A function that has fewer does not look into the others' registers.
 */
typedef void *trace_method_function(void *self, void *second, void *third, void *fourth);

/* PyMethodDef. */
struct trace_method {
	const char *name;
	trace_method_function *function;
	int flags;
	const char *doc;
};

/* More than a type has; a table ends with a method that has no name. */
#define TRACE_METHODS_MAX 4096U
/* From PyTypeObject.tp_name to tp_methods: the same in every version. */
#define TRACE_NAME_TO_METHODS (232 - 24)

/* A type's own methods; NULL: it has none. */
static inline struct trace_method *trace_methods_of_type(const struct python_layout *layout,
							 u64 type)
{
	return *(struct trace_method **)(type + layout->offsets.type_name +
					 TRACE_NAME_TO_METHODS);
}

/* False: it is called in another way, or its memory cannot be written. */
static inline bool trace_method_interpose(struct trace_method *method,
					  trace_method_function *ours,
					  trace_method_function **out_theirs)
{
	const u32 flags = (u32)method->flags;

	if (method->function == ours)
		return true;
	if (flags == 0 || (flags & ~TRACE_METHOD_KNOWN) != 0)
		return false;
	*out_theirs = method->function;
	return trace_put_word((void **)&method->function, *(void *const *)&ours);
}
