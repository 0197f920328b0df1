#include "agent/trace/python/eval_frame.h"

#include <stddef.h>

#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/api.h"

static eval_frame_function *(*get_function)(void *interpreter);
static void (*set_function)(void *interpreter, eval_frame_function *function);

struct trace_eval_frame trace_eval_frame;

/* Checks the member's offset: a function that is set by a call must appear there. */
bool trace_eval_frame_is_there(u64 state)
{
	eval_frame_function **member = eval_frame_of(state);
	void *interpreter = (void *)((u64)member - EVAL_FRAME_OF_INTERPRETER);

	/* Another tool's function is set already, perhaps a debugger's. */
	if (get_function(interpreter) != trace_eval_frame.own || *member != NULL)
		return false;
	set_function(interpreter, trace_eval_frame_on_frame);
	const bool is_found = *member == trace_eval_frame_on_frame;

	set_function(interpreter, trace_eval_frame.own);
	return is_found && *member == NULL;
}

void trace_eval_frame_switch(u64 state, bool is_on)
{
	*eval_frame_of(state) = is_on ? trace_eval_frame_on_frame : NULL;
}

/* Instructions report where the frame begins and ends, except for throw() and exceptions. */
void *trace_eval_frame_on_frame(void *state_object, void *frame_object, int is_throw)
{
	const u64 state = (u64)state_object, frame = (u64)frame_object;
	eval_frame_function *evaluate = trace_eval_frame.foreign != NULL
						? trace_eval_frame.foreign
						: trace_eval_frame.own;
	struct call_stack *calls = is_throw ? trace_of_thread() : NULL;

	if (calls != NULL && !dispatch_is_in_other_tool(state))
		dispatch_enter(calls, frame, dispatch_code_of(frame));
	void *result = evaluate(state_object, frame_object, is_throw);

	/*
	 * If the frame still has an entry, it has yielded, perhaps within a region of its own, or
	 * an exception has left it.  In a child of fork the thread has another call stack.
	 */
	calls = trace_own;
	if (calls != NULL && (result == NULL || loop_is_function(calls->top, frame) ||
			      calls->top->kind == TRACE_KIND_REGION))
		loop_leave(calls, frame);
	eval_frame_put_back(state);
	return result;
}

/* --- while another tool has a profile function --- */

/* The other tool's, for all threads: C calls of a thread with a different one are lost. */
static trace_profile_function *theirs;

/* PyFrameObject.f_frame, of 3.11. */
#define HANDLE_TO_FRAME 24

static void report_builtin(u64 callable, u64 frame, bool is_call)
{
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL)
		trace_builtin_event(calls, frame, is_call, callable, trace_now());
}

/* Py_tracefunc.  A call that removes the profile function is not reported to end. */
static int on_profile(void *object, void *frame_object, int what, void *argument)
{
	const u64 frame = trace_word_at((u64)frame_object + HANDLE_TO_FRAME);

	if (what == TRACE_PROFILE_C_RETURN || what == TRACE_PROFILE_C_EXCEPTION)
		report_builtin((u64)argument, frame, false);
	const int result = theirs(object, frame_object, what, argument);

	if (what == TRACE_PROFILE_C_CALL && result == 0)
		report_builtin((u64)argument, frame, true);
	return result;
}

void trace_eval_frame_meet_profiler(u64 state)
{
	trace_profile_function **place = (void *)(state + EVAL_FRAME_STATE_PROFILE);

	if (*place == on_profile || (theirs != NULL && *place != theirs))
		return;
	theirs = *place;
	trace_eval_frame.has_met_profiler = true;
	*place = on_profile;
}

bool trace_eval_frame_find(void)
{
	*(void **)&get_function = trace_symbol("_PyInterpreterState_GetEvalFrameFunc");
	*(void **)&set_function = trace_symbol("_PyInterpreterState_SetEvalFrameFunc");
	*(void **)&trace_eval_frame.own = trace_symbol("_PyEval_EvalFrameDefault");
	trace_eval_frame.foreign = NULL;
	return get_function != NULL && set_function != NULL && trace_eval_frame.own != NULL;
}
