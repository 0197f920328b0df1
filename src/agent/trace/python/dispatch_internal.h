/*
 * dispatch_internal - what the files of trace_dispatch share: what was found out, and the loop's
 * state and frame at a hook.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/dispatch_rows.h"
#include "agent/trace/python/eval_loop.h"
#include "agent/trace/python/eval_loop_calls.h"
#include "agent/trace/word.h"

/* Called by a dispatch hook, with the registers it has pushed; returns where to go on. */
#define X(number, name, hook, ...)                              \
	void *trace_dispatch_on_##hook(u64 *places, u64 which); \
	void trace_dispatch_entry_##number(void); /* dispatch_x86_64.S */
DISPATCH_MAP(X)
DISPATCH_WATCH_MAP(X)
#undef X

/* Of 3.11, in place of the hooks before these two (15 and 16): dispatch_x86_64.S. */
void trace_dispatch_enter_15(void);
void trace_dispatch_enter_16(void);

enum dispatch_mode {
	DISPATCH_OFF,
	DISPATCH_WATCHING, /* the hooks only look where the loop has what */
	DISPATCH_ON,
	DISPATCH_ON_3_11, /* with eval_frame.h */
};

struct trace_dispatch {
	enum dispatch_mode mode;
	void *originals[DISPATCH_HOOKS]; /* where each hook goes on; NULL: there is none */
	/* State and frame: not known while they are looked for; what they have been right in. */
	struct loop_places places;
	u64 state_candidates, frame_candidates;
	struct loop_shape shape;
	struct dispatch_row row; /* a copy: it is read at each event */
	/* Offsets that each event needs; state_cframe 0: current_frame is the state's own. */
	u16 state_frame, state_cframe, cframe_frame, state_interpreter;
	u16 frame_code, code_flags;
	bool has_builtins; /* their calls are wanted */
	u64 tuple_type;
	u64 bound_type; /* PyMethod_Type; 0: its objects are called as they are */
	/* Where a call of a shim goes on, by any of its special forms. */
	void *call, *call_names, *call_spread;
	bool counts_down; /* call is CALL itself, which may be made special anew */
};
extern struct trace_dispatch trace_dispatch;

/* CO_NO_MONITORING_EVENTS: code of the interpreter's own, from 3.13 on. */
#define DISPATCH_CODE_IS_UNSEEN 0x2000000U

static inline u64 dispatch_frame_of_state(u64 state)
{
	if (trace_dispatch.state_cframe == 0)
		return trace_word_at(state + trace_dispatch.state_frame);
	return trace_word_at(trace_word_at(state + trace_dispatch.state_cframe) +
			     trace_dispatch.cframe_frame);
}

/* dispatch_hooks.c: where hooks do not count, they may look. */
void *trace_dispatch_only_look(const u64 *places, u64 number);
/* dispatch_hooks_3_11.c: what calls functions of both kinds, on 3.11; or only looks. */
void *trace_dispatch_call_3_11(u64 *places, u64 number);
/* Whether calls of C functions are counted by shims here, on 3.11. */
bool trace_dispatch_is_on_3_11(const u64 *places);
/* dispatch_hooks.c: the state by a call, and where the loop has it, while that is looked for. */
u64 trace_dispatch_ask_for_state(const u64 *places);
/* The PyThreadState that the calling thread's last event was seen in; 0: none so far. */
extern __thread u64 trace_dispatch_state;

/*
 * The place may be a word of the loop's stack, of which it is not certain that nothing else is
 * ever in it: but then it would not be what it was for this thread before.
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

/* Another tool's callback is being executed: it is not traced, as with sys.monitoring. */
static inline bool dispatch_is_in_other_tool(u64 state)
{
	return *(const int *)(state + trace_dispatch.row.state_tracing) != 0;
}

static inline bool dispatch_is_unseen(u64 code)
{
	return (*(const u32 *)(code + trace_dispatch.code_flags) & DISPATCH_CODE_IS_UNSEEN) !=
	       0;
}

/* A function begins in this frame, or goes on. */
static inline void dispatch_enter(struct call_stack *calls, u64 frame, u64 code)
{
	/*
	 * RESUME is executed again when it has made something else of itself, and of its code:
	 * the function has begun then, and called nothing.
	 */
	if (__builtin_expect(loop_is_function(calls->top, frame), 0)) {
		if (calls->top->object == code)
			return;
		loop_leave(calls, frame);
	}
	if (!dispatch_is_unseen(code))
		loop_enter(calls, frame, code);
}

/* Where most calls are left out, the stack is not searched for each: they have no entry. */
static inline bool dispatch_was_left_out(const struct call_stack *calls, u64 frame)
{
	return __builtin_expect(calls->is_throttled, 0) && !loop_is_function(calls->top, frame);
}

static inline void dispatch_leave(struct call_stack *calls, u64 frame)
{
	/* The others have no entry, and are not to be looked for. */
	if (__builtin_expect(loop_is_function(calls->top, frame), 1) ||
	    !dispatch_is_unseen(dispatch_code_of(frame)))
		loop_leave(calls, frame);
}
