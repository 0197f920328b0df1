/*
 * dispatch_callee - what an instruction calls, on the stack of values, and the shim that is put in
 * its place (callable_shims.h).
 */
#pragma once
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/word.h"

/* dispatch_hooks.c: a bound method of a C function becomes that function and an object. */
void trace_dispatch_expand(u64 *place);

/*
 * Puts a shim in the place of a C function, if that is what is called.  A reference that is
 * not the stack's own (from 3.14 on) becomes one that is, for the shim drops it.
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

/* Where what is called stands, with `more` words above the arguments. */
static inline u64 *dispatch_callable_of(const u64 *places, u64 more)
{
	u64 *end =
		dispatch_stack_of(places) - more - (u32)places[trace_dispatch.places.argument];
	u64 *callable = end - trace_dispatch.row.callable_below;

	/* On 3.12 what is called is the method, if there is one, and the other is its object. */
	if (trace_dispatch.row.method_below != 0 &&
	    end[-(long)trace_dispatch.row.method_below] != 0)
		callable = end - trace_dispatch.row.method_below;
	dispatch_expand_bound(callable);
	return callable;
}

/* Of the calling thread, whose state has just been asked for. */
static inline s32 *dispatch_calls_left(void)
{
	return (s32 *)(trace_dispatch_state + trace_dispatch.row.state_calls_left);
}
