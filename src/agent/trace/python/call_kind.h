/*
 * call_kind - by what a Python function is executed, as far as the overhead of its hooks depends on it.
 *
 * An instruction that calls has a dispatch hook, as the function's beginning has.  C code and other
 * instructions (an attribute that is a property, a key function, an operator) have none, and a
 * generator that is resumed has no new frame.  Each is a kind of calls that is calibrated by itself.
 * The kind is determined once, when a callee is new to its caller: events pay nothing for it.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct trace_call;
struct trace_entry;

/* Of a call of TRACE_KIND_PYTHON that begins in that of `caller`. */
enum trace_kind trace_call_kind_of(const struct trace_call *call,
				   const struct trace_entry *caller);
