/*
 * dispatch_callee - finds what an instruction calls, on the value stack, and replaces a C
 * function there by a shim (callable_shims.h).
 */
#pragma once
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/word.h"

/* dispatch_hooks.c: replaces a bound method of a C function by the function and its object. */
void trace_dispatch_expand(u64 *place);

/*
 * Replaces a C function on the value stack by a shim.  A reference that the stack does not own (a
 * tagged one, from 3.14 on) is made an owned one first, as the shim will drop it.
 */
static inline bool dispatch_put_shim(struct call_stack *calls, u64 *place, u64 callable,
				     u64 method)
{
	const u64 shim = trace_throttled(calls) ? 0 : trace_shims_take(calls, callable, method);

	if (__builtin_expect(shim == 0, 0))
		return false;
	if (*place & trace_dispatch.shape.tags)
		python_api.Py_IncRef((void *)callable);
	*place = shim;
	return true;
}

static inline bool dispatch_replace(const u64 *places, u64 *place)
{
	const u64 callable = *place & ~trace_dispatch.shape.tags;
	const u64 method = trace_python_method(callable);

	if (method == 0)
		return false;
	struct call_stack *calls = trace_of_thread();

	return calls != NULL && !dispatch_is_in_other_tool(dispatch_state_of(places)) &&
	       dispatch_put_shim(calls, place, callable, method);
}

static inline void dispatch_expand_bound(u64 *place)
{
	const u64 callable = *place & ~trace_dispatch.shape.tags;

	if (__builtin_expect(trace_dispatch.bound_type != 0 &&
				     trace_word(callable, trace_objects.object_type) ==
					     trace_dispatch.bound_type,
			     0))
		trace_dispatch_expand(place);
}

static inline u64 *dispatch_stack_of(const u64 *places)
{
	return (u64 *)places[trace_dispatch.places.stack];
}

/* The callable's place on the value stack, with `more` words above the arguments. */
static inline u64 *dispatch_callable_of(const u64 *places, u64 more)
{
	u64 *end =
		dispatch_stack_of(places) - more - (u32)places[trace_dispatch.places.argument];
	u64 *callable = end - trace_dispatch.row.callable_below;

	/* Up to 3.12 a method below is called, and the other word is its object. */
	if (trace_dispatch.row.method_below != 0 &&
	    end[-(long)trace_dispatch.row.method_below] != 0)
		callable = end - trace_dispatch.row.method_below;
	dispatch_expand_bound(callable);
	return callable;
}

/* The calling thread's count of C calls still allowed; trace_dispatch_state must be current. */
static inline s32 *dispatch_calls_left(void)
{
	return (s32 *)(trace_dispatch_state + trace_dispatch.row.state_calls_left);
}
