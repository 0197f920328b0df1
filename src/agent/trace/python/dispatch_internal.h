/*
 * dispatch_internal - what the files of dispatch share: the state of all hooks, and how a hook
 * finds the loop's thread state and frame.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/dispatch_rows.h"
#include "agent/trace/python/eval_loop.h"
#include "agent/trace/python/eval_loop_calls.h"
#include "agent/trace/word.h"

/* Called by a dispatch hook with the registers it has pushed; returns the code to jump to. */
#define X(number, name, hook, ...)                              \
	void *trace_dispatch_on_##hook(u64 *places, u64 which); \
	void trace_dispatch_entry_##number(void); /* dispatch_x86_64.S */
DISPATCH_MAP(X)
DISPATCH_WATCH_MAP(X)
#undef X

/* On 3.11 these replace the hooks 15 and 16: dispatch_x86_64.S. */
void trace_dispatch_enter_15(void);
void trace_dispatch_enter_16(void);

enum dispatch_mode {
	DISPATCH_OFF,
	DISPATCH_WATCHING, /* the hooks only look where the loop keeps its variables */
	DISPATCH_ON,
	DISPATCH_ON_3_11, /* counting, together with eval_frame.h */
};

struct trace_dispatch {
	enum dispatch_mode mode;
	void *originals[DISPATCH_HOOKS]; /* where each hook goes on; NULL: no instruction */
	/*
	 * Where the loop keeps its variables.  While its thread state and frame are being looked
	 * for, the candidates have a bit for each place that was always right so far.
	 */
	struct loop_places places;
	u64 state_candidates, frame_candidates;
	struct loop_shape shape;
	struct dispatch_row row; /* a copy: it is read at each event */
	/* Offsets for each event; state_cframe 0: the thread state has the frame itself. */
	u16 state_frame, state_cframe, cframe_frame, state_interpreter;
	u16 frame_code, code_flags;
	bool has_builtins; /* calls of C functions are wanted */
	u64 tuple_type;
	u64 bound_type; /* PyMethod_Type; 0: bound methods are not expanded */
	/* The general form by which each specialised form calls a shim. */
	void *call, *call_names, *call_spread;
	bool counts_down; /* `call` is CALL itself, whose counter may specialise it anew */
};
extern struct trace_dispatch trace_dispatch;

/* CO_NO_MONITORING_EVENTS: the interpreter's own code, from 3.13 on. */
#define DISPATCH_CODE_IS_UNSEEN 0x2000000U

static inline u64 dispatch_frame_of_state(u64 state)
{
	if (trace_dispatch.state_cframe == 0)
		return trace_word_at(state + trace_dispatch.state_frame);
	return trace_word_at(trace_word_at(state + trace_dispatch.state_cframe) +
			     trace_dispatch.cframe_frame);
}

/* dispatch_hooks.c: for a hook that does not count: watches, if asked to, and goes on. */
void *trace_dispatch_only_look(const u64 *places, u64 number);
/* dispatch_hooks_3_11.c: hooks of general call instructions on 3.11. */
void *trace_dispatch_call_3_11(u64 *places, u64 number);
/* Whether shims count calls of C functions here, on 3.11. */
bool trace_dispatch_is_on_3_11(const u64 *places);
/* dispatch_hooks.c: gets the thread state from CPython; narrows the candidates, if any. */
u64 trace_dispatch_ask_for_state(const u64 *places);
/* The PyThreadState at the calling thread's last event; 0: none so far. */
extern __thread u64 trace_dispatch_state;

/*
 * The place may be a word of the loop's C stack that may hold something else at times; then it
 * differs from the thread's last state, and CPython is asked.
 */
static inline u64 dispatch_state_of(const u64 *places)
{
	const u64 state = trace_dispatch_state;

	if (__builtin_expect(places[trace_dispatch.places.state] == state && state != 0, 1))
		return state;
	return trace_dispatch_ask_for_state(places);
}

static inline u64 dispatch_frame_of(const u64 *places)
{
	return __builtin_expect(trace_dispatch.places.frame != LOOP_NOWHERE, 1)
		       ? places[trace_dispatch.places.frame]
		       : dispatch_frame_of_state(dispatch_state_of(places));
}

static inline u64 dispatch_code_of(u64 frame)
{
	return trace_word_at(frame + trace_dispatch.frame_code) & ~trace_dispatch.shape.tags;
}

/* Whether another tool's callback is running: it is not traced, as with sys.monitoring. */
static inline bool dispatch_is_in_other_tool(u64 state)
{
	return *(const int *)(state + trace_dispatch.row.state_tracing) != 0;
}

static inline bool dispatch_is_unseen(u64 code)
{
	return (*(const u32 *)(code + trace_dispatch.code_flags) & DISPATCH_CODE_IS_UNSEEN) !=
	       0;
}

/* A function begins or is resumed in this frame. */
static inline void dispatch_enter(struct call_stack *calls, u64 frame, u64 code)
{
	/*
		 * RESUME is executed twice if it has specialised itself, or instrumented its
		 * code: then the function has begun already, and called nothing yet.
	 */
	if (__builtin_expect(loop_is_function(calls->top, frame), 0)) {
		if (calls->top->object == code)
			return;
		loop_leave(calls, frame);
	}
	if (!dispatch_is_unseen(code))
		loop_enter(calls, frame, code);
}

/* While throttled most calls have no entry: do not search the stack for each. */
static inline bool dispatch_was_left_out(const struct call_stack *calls, u64 frame)
{
	return __builtin_expect(calls->is_throttled, 0) && !loop_is_function(calls->top, frame);
}

static inline void dispatch_leave(struct call_stack *calls, u64 frame)
{
	/* The interpreter's own code has no entry: do not search for one. */
	if (__builtin_expect(loop_is_function(calls->top, frame), 1) ||
	    !dispatch_is_unseen(dispatch_code_of(frame)))
		loop_leave(calls, frame);
}
