/*
 * trace_methods - functions of ours before an interpreter's functions of C, whoever calls them.
 *
 * An interpreter calls a function of C by its PyMethodDef, a row of a table that the module
 * has.  In it is the address in whose place ours is put.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"
#include "vantage/agent/trace/trace_word.h"

/*
 * Include/methodobject.h: how a method is called.  By none of these has it more than three
 * arguments, unless both of the last two are there.
 */
#define TRACE_METHOD_OF_THREE 0x3fU /* tuple, keywords, none, one; of a class, of nobody */
#define TRACE_METHOD_KEYWORDS 0x02U
#define TRACE_METHOD_FAST     0x80U

/* self, and what else there is: a tuple and a dict, an object, or an array and its length. */
typedef void *trace_three_arguments(void *self, void *second, void *third);

/* PyMethodDef. */
struct trace_method {
	const char *name;
	trace_three_arguments *function;
	int flags;
	const char *doc;
};

/* False: it is called in another way, or its memory cannot be written. */
static inline bool trace_method_stand_before(struct trace_method *method,
					     trace_three_arguments *ours,
					     trace_three_arguments **out_theirs)
{
	const u32 flags = (u32)method->flags;

	if (method->function == ours)
		return true;
	if (flags == 0 || (flags & ~(TRACE_METHOD_OF_THREE | TRACE_METHOD_FAST)) != 0 ||
	    ((flags & TRACE_METHOD_FAST) != 0 && (flags & TRACE_METHOD_KEYWORDS) != 0))
		return false;
	*out_theirs = method->function;
	return trace_put_word((void **)&method->function, *(void *const *)&ours);
}
