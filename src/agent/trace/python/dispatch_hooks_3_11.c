/*
 * Dispatch hooks that only CPython 3.11 needs: they set the eval_frame function again
 * (eval_frame.h), and handle exception handlers, PRECALL, and calls made while another tool has a
 * profile function.
 */
#include "agent/trace/python/dispatch_callee.h"
#include "agent/trace/python/eval_frame.h"

/* Size of PRECALL with its cache. */
#define PRECALL_BYTES 4

/* RETURN_GENERATOR: a call has entered a function that only makes a generator. */
void *trace_dispatch_on_begun(u64 *places, u64 number)
{
	return eval_frame_has_set(places) ? trace_dispatch.originals[number]
					  : trace_dispatch_only_look(places, number);
}

/* An exception handler begins: ends calls that its frame made and the exception left. */
void *trace_dispatch_on_handler(u64 *places, u64 number)
{
	if (!eval_frame_has_set(places))
		return trace_dispatch_only_look(places, number);
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL)
		loop_end_called(calls, dispatch_frame_of(places));
	return trace_dispatch.originals[number];
}

/* Whether no other tool has a profile function, nor had one, nor is being called. */
static inline bool is_plain_3_11(u64 state)
{
	return __builtin_expect((trace_word_at(state + EVAL_FRAME_STATE_PROFILE) |
				 (u64)dispatch_is_in_other_tool(state) |
				 (u64)trace_eval_frame.has_met_profiler) == 0,
				1);
}

/* The same after another tool's profile function was seen: whether shims count C functions now. */
static __attribute__((noinline)) bool is_by_shims_3_11(const u64 *places, u64 state)
{
	if (trace_word_at(state + EVAL_FRAME_STATE_PROFILE) != 0) {
		trace_eval_frame_meet_profiler(state);
		return false;
	}
	/* The call that removed the tool's profile function was not reported to end. */
	if (trace_own != NULL)
		loop_end_called(trace_own, dispatch_frame_of(places));
	return !dispatch_is_in_other_tool(state);
}

bool trace_dispatch_is_on_3_11(const u64 *places)
{
	if (trace_dispatch.mode != DISPATCH_ON_3_11 || !trace_dispatch.has_builtins)
		return false;
	const u64 state = dispatch_state_of(places);

	return is_plain_3_11(state) || is_by_shims_3_11(places, state);
}

/* Instructions that call both kinds of functions; specialised forms pass C functions to CALL. */
void *trace_dispatch_call_3_11(u64 *places, u64 number)
{
	if (trace_dispatch.mode != DISPATCH_ON_3_11)
		return trace_dispatch_only_look(places, number);
	u64 *place = dispatch_callable_of(places, 0);
	const bool has_shims = trace_dispatch_is_on_3_11(places);

	if (trace_word(*place, trace_objects.object_type) == trace_objects.function_type)
		eval_frame_take_away(dispatch_state_of(places));
	else if (has_shims &&
		 (number == HOOK_BEFORE_CALL || number == HOOK_BEFORE_CALL_ADAPTIVE))
		dispatch_replace(places, place);
	return trace_dispatch.originals[number];
}

/*
 * Forms of PRECALL specialised for a kind of C function, which call it before the CALL that
 * follows: skip to that with a shim.  If EXTENDED_ARG is between the two, the form itself runs,
 * finds the shim, and goes on to CALL.
 */
void *trace_dispatch_on_precall(u64 *places, u64 number)
{
	struct call_stack *calls = trace_own;

	if (trace_dispatch.mode != DISPATCH_ON_3_11 || calls == NULL)
		return trace_dispatch_only_look(places, number);
	const u64 state = dispatch_state_of(places);
	const u32 count = (u32)places[trace_dispatch.places.argument];
	u64 *place = (u64 *)places[trace_dispatch.places.stack] - count - 1;

	place -= place[-1] != 0;
	const u64 callable = *place, method = trace_python_method(callable);

	if (method == 0 || !(is_plain_3_11(state) || is_by_shims_3_11(places, state)) ||
	    !dispatch_put_shim(calls, place, callable, method) ||
	    __builtin_expect(count > 255, 0))
		return trace_dispatch.originals[number];
	if (trace_dispatch.row.uncounted >> number & 1)
		trace_shims_uncount(*place, dispatch_calls_left());
	places[trace_dispatch.places.next] += PRECALL_BYTES;
	return trace_dispatch.call;
}

/* BINARY_SUBSCR of an object whose class has a __getitem__() in Python, which it calls. */
void *trace_dispatch_on_subscript(u64 *places, u64 number)
{
	if (trace_dispatch.mode == DISPATCH_ON_3_11)
		eval_frame_take_away(dispatch_state_of(places));
	return trace_dispatch_only_look(places, number);
}
