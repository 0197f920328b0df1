/*
 * methods - interposes C functions of an interpreter, wherever they are called from.
 *
 * An interpreter calls a C function through its PyMethodDef, a row of a table in the module: the
 * address in it is replaced by that of a function of ours.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/python_layout.h"
#include "abi/types.h"
#include "agent/trace/word.h"

/*
 * Calling conventions (Include/methodobject.h) that pass at most four arguments: METH_VARARGS,
 * _KEYWORDS, _NOARGS, _O, _CLASS, _STATIC, and METH_FASTCALL, which has keyword names with
 * _KEYWORDS; on 3.6 always.
 */
#define TRACE_METHOD_KNOWN 0xbfU

/*
 * Takes self, then depending on the convention a tuple and a dict, an object, or an array, its
 * length and keyword names.  A function with fewer arguments ignores the others' registers.
 */
typedef void *trace_method_function(void *self, void *second, void *third, void *fourth);

/* PyMethodDef. */
struct trace_method {
	const char *name;
	trace_method_function *function;
	int flags;
	const char *doc;
};

/* More methods than a type has; a table ends with a method without a name. */
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

/* Replaces a method's function.  False: another calling convention, or its memory is read-only. */
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
