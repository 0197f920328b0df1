/*
 * function_calls - where a call of a Python function, or of a C function by Python, begins: one piece of
 * code for all that report it.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/python/objects.h"

/* frame: by which its end is known beside its code; 0: by that alone. */
static inline struct trace_call trace_function_call(u64 code, u64 frame)
{
	return (struct trace_call){ .identity = trace_python_identity(code),
				    .object = code,
				    .named = code,
				    .frame = frame,
				    .kind = TRACE_KIND_PYTHON };
}

/* method: the callable's (trace_python_method()), and not 0; by it and by frame its end is known. */
static inline __attribute__((always_inline)) void
trace_begin_builtin(struct call_stack *calls, u64 callable, u64 method, u64 frame, u64 now)
{
	trace_enter(calls,
		    (struct trace_call){ .identity = trace_python_method_identity(method),
					 .object = method,
					 .named = callable,
					 .frame = frame,
					 .kind = TRACE_KIND_PYTHON_BUILTIN },
		    now);
}

/* A C function begins or ends, by an event that has the frame which calls it. */
static inline void trace_builtin_event(struct call_stack *calls, u64 frame, bool is_call,
				       u64 callable, u64 now)
{
	const u64 method = trace_python_method(callable);

	if (method == 0)
		return;
	if (is_call)
		trace_begin_builtin(calls, callable, method, frame, now);
	else
		trace_leave(calls, method, frame, now);
}
