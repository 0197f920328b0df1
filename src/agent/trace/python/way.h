/*
 * way - by what a Python function comes to be executed, as far as hooks cost more or less.
 *
 * Before an instruction that calls, there is a stub as well as at the function's beginning; C and
 * other instructions (an attribute that is a property, a key function, an operator) have none, and
 * a generator that goes on has neither a new frame.  Each way is a kind of calls whose cost is
 * calibrated.  A caller's callee is called in one way, as a rule: it is looked at when the callee is
 * new, and costs no event anything.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct trace_call;
struct trace_entry;

/* Of a call of TRACE_KIND_PYTHON that begins in that of `caller`. */
enum trace_kind trace_way_of(const struct trace_call *call, const struct trace_entry *caller);

/* Whether a kind is of Python functions. */
static inline bool trace_way_is(u32 kind)
{
	return kind == TRACE_KIND_PYTHON || kind == TRACE_KIND_PYTHON_UNCALLED ||
	       kind == TRACE_KIND_PYTHON_RESUMED;
}
