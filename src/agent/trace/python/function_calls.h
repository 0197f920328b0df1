/*
 * function_calls - how a call of a Python function, or of a C function by Python, begins: shared
 * by all hooks that report calls.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/python/objects.h"

/* frame: identifies the call's end together with the code; 0: the code alone does. */
static inline struct trace_call trace_function_call(u64 code, u64 frame)
{
	return (struct trace_call){ .identity = trace_python_identity(code),
				    .object = code,
				    .named = code,
				    .frame = frame,
				    .kind = TRACE_KIND_PYTHON };
}

/* method: by trace_python_method(), not 0; it and frame identify the end. */
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

/* A C function begins or ends; frame: the calling frame. */
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
