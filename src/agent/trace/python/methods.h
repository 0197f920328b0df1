/*
 * methods - functions of ours before an interpreter's functions of C, whoever calls them.
 *
 * An interpreter calls a function of C by its PyMethodDef, a row of a table that the module
 * has.  In it is the address in whose place ours is put.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

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
 * names.  Who has fewer does not look into the others' registers.
 */
typedef void *trace_method_function(void *self, void *second, void *third, void *fourth);

/* PyMethodDef. */
struct trace_method {
	const char *name;
	trace_method_function *function;
	int flags;
	const char *doc;
};

/* False: it is called in another way, or its memory cannot be written. */
static inline bool trace_method_stand_before(struct trace_method *method,
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
