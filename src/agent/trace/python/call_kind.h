/*
 * call_kind - classifies how a Python function was called, as hooks' overhead depends on it.
 *
 * A call instruction has a dispatch hook, and so has the function's first instruction.  Functions
 * called by C code or other instructions (a property's attribute, a key function, an operator) have
 * only the latter, and a resumed generator has no new frame.  Each kind is calibrated separately.
 * The kind is determined once, when a callee is new to its caller: events pay nothing for it.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct trace_call;
struct trace_entry;

/* The exact kind of a call of TRACE_KIND_PYTHON, made by the function of `caller`. */
enum trace_kind trace_call_kind_of(const struct trace_call *call,
				   const struct trace_entry *caller);
