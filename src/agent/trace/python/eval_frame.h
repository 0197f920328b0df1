/*
 * eval_frame - what no instruction of CPython 3.11 shows: a frame that throw() enters, and one
 * that an exception leaves to C.
 *
 * From 3.12 on sys.monitoring reports both.  On 3.11 an eval_frame function does (PEP 523), by which
 * the interpreter executes frames that C enters.  With one set, the loop would also call itself for
 * calls between Python functions, as it did up to 3.10: recursion would take the C stack.  So
 * the hook of an instruction that is about to enter a Python function takes it away, and the hook
 * of the function's first instruction sets it again, or that of the handler where the call failed.
 */
#pragma once
#include <stdbool.h>

#include "agent/trace/python/dispatch_internal.h"

typedef void *eval_frame_function(void *state, void *frame, int is_throw);

/* Offsets of 3.11: Include/internal/pycore_interp.h (it is tried), pystate.h, pycore_frame.h. */
#define EVAL_FRAME_OF_INTERPRETER 1424
#define EVAL_FRAME_INTERPRETER    16 /* of a thread's state */
#define EVAL_FRAME_STATE_PROFILE  64 /* c_profilefunc */
#define EVAL_FRAME_IS_ENTRY       68 /* a loop began with this frame */

struct trace_eval_frame {
	eval_frame_function *own;     /* the interpreter's */
	eval_frame_function *foreign; /* another tool's, which was set when ours was; or NULL */
	bool has_met_profiler;        /* another tool has, or had, a profile function */
};
extern struct trace_eval_frame trace_eval_frame;

/* What it takes of the interpreter; false: it has not all of it. */
bool trace_eval_frame_find(void);
/* Whether it can be set in the interpreter of a thread's state; with the GIL. */
bool trace_eval_frame_is_there(u64 state);
/* Sets ours there, or takes it away. */
void trace_eval_frame_switch(u64 state, bool is_on);
/*
 * The calling thread has another tool's profile function: from now on one of ours is called in its
 * place, which counts C functions and calls it.
 */
void trace_eval_frame_meet_profiler(u64 state);
/* PEP 523: ours. */
void *trace_eval_frame_on_frame(void *state, void *frame, int is_throw);

static inline eval_frame_function **eval_frame_of(u64 state)
{
	return (void *)(trace_word_at(state + EVAL_FRAME_INTERPRETER) +
			EVAL_FRAME_OF_INTERPRETER);
}

/*
 * Sets ours again.  We set none only where there is no other tool's; so none means that we have
 * taken ours away for a call, or the tool its own.
 */
static inline void eval_frame_put_back(u64 state)
{
	eval_frame_function **function = eval_frame_of(state);

	if (__builtin_expect(*function == trace_eval_frame_on_frame, 1))
		return;
	trace_eval_frame.foreign = *function;
	*function = trace_eval_frame_on_frame;
}

/* The next instruction is a called function's first one, or there is an error. */
static inline void eval_frame_take_away(u64 state)
{
	eval_frame_put_back(state);
	if (trace_eval_frame.foreign == NULL)
		*eval_frame_of(state) = NULL;
}

/* A call has entered a function, or has failed.  False: it is not 3.11, or nothing is counted. */
static inline bool eval_frame_has_set(const u64 *places)
{
	if (trace_dispatch.mode != DISPATCH_ON_3_11)
		return false;
	eval_frame_put_back(dispatch_state_of(places));
	return true;
}
