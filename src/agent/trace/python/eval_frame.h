/*
 * eval_frame - an eval_frame function (PEP 523) for CPython 3.11: reports what no instruction
 * shows, a frame that throw() enters, and one that an exception leaves to C.
 *
 * From 3.12 on sys.monitoring reports both.  On 3.11 the interpreter executes frames that C enters
 * by the eval_frame function.  But with one set, the loop would also call itself for calls between
 * Python functions, as up to 3.10, and recursion would use up the C stack.  So the hook of an
 * instruction that is about to enter a Python function takes ours away; the hook of the function's
 * first instruction sets it again, or the exception handler's.
 */
#pragma once
#include <stdbool.h>

#include "agent/trace/python/dispatch_internal.h"

typedef void *eval_frame_function(void *state, void *frame, int is_throw);

/* Offsets of 3.11 (pycore_interp.h, tested when we begin; pystate.h, pycore_frame.h). */
#define EVAL_FRAME_OF_INTERPRETER 1424
#define EVAL_FRAME_INTERPRETER    16 /* in the thread state */
#define EVAL_FRAME_STATE_PROFILE  64 /* c_profilefunc */
#define EVAL_FRAME_IS_ENTRY       68 /* C entered the loop with this frame */

struct trace_eval_frame {
	eval_frame_function *own;     /* the interpreter's */
	eval_frame_function *foreign; /* another tool's, which replaced ours; or NULL */
	bool has_met_profiler;        /* another tool has, or had, a profile function */
};
extern struct trace_eval_frame trace_eval_frame;

/* Looks up the functions it needs; false: the interpreter lacks one. */
bool trace_eval_frame_find(void);
/* Whether ours can be set in the interpreter of this thread state; with the GIL. */
bool trace_eval_frame_is_there(u64 state);
/* Sets ours in that interpreter, or removes it. */
void trace_eval_frame_switch(u64 state, bool is_on);
/*
 * The calling thread has another tool's profile function: replaces it by one of ours, which
 * counts C functions and calls the other.
 */
void trace_eval_frame_meet_profiler(u64 state);
/* Our eval_frame function. */
void *trace_eval_frame_on_frame(void *state, void *frame, int is_throw);

static inline eval_frame_function **eval_frame_of(u64 state)
{
	return (void *)(trace_word_at(state + EVAL_FRAME_INTERPRETER) +
			EVAL_FRAME_OF_INTERPRETER);
}

/*
 * Sets ours again.  We remove ours only if no other tool's is set; so if none is set, we have
 * removed ours for a call, or the other tool its own.
 */
static inline void eval_frame_put_back(u64 state)
{
	eval_frame_function **function = eval_frame_of(state);

	if (__builtin_expect(*function == trace_eval_frame_on_frame, 1))
		return;
	trace_eval_frame.foreign = *function;
	*function = trace_eval_frame_on_frame;
}

/* Before a call of a Python function: next comes its first instruction, or a handler. */
static inline void eval_frame_take_away(u64 state)
{
	eval_frame_put_back(state);
	if (trace_eval_frame.foreign == NULL)
		*eval_frame_of(state) = NULL;
}

/* After a call has entered a function, or failed: sets ours again.  False: not on 3.11. */
static inline bool eval_frame_has_set(const u64 *places)
{
	if (trace_dispatch.mode != DISPATCH_ON_3_11)
		return false;
	eval_frame_put_back(dispatch_state_of(places));
	return true;
}
