/*
 * dispatch_internal - what the files of trace_dispatch have in common.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/dispatch_rows.h"
#include "agent/trace/python/eval_loop.h"

/* What a dispatch hook calls; says where to go on. */
typedef void *stub_hook(u64 *places, u64 number);
stub_hook trace_dispatch_on_start, trace_dispatch_on_end, trace_dispatch_on_other,
	trace_dispatch_on_call, trace_dispatch_on_call_names, trace_dispatch_on_call_spread,
	trace_dispatch_on_special, trace_dispatch_on_special_names,
	trace_dispatch_on_special_spread, trace_dispatch_on_watch;

/* python/dispatch_x86_64.S: */
#define X(number, name, ...) void trace_dispatch_entry_##number(void);
DISPATCH_MAP(X)
DISPATCH_WATCH_MAP(X)
#undef X

enum dispatch_mode {
	DISPATCH_OFF,
	DISPATCH_WATCHING, /* the hooks only look where the loop has what */
	DISPATCH_ON,
};

struct trace_dispatch {
	enum dispatch_mode mode;
	/* State and frame: not known while they are looked for; what they have been right in. */
	struct loop_places places;
	u64 state_candidates, frame_candidates;
	struct loop_shape shape;
	/* Offsets that each event needs; state_cframe 0: current_frame is the state's own. */
	u16 state_tracing, state_frame, state_cframe, cframe_frame, state_interpreter;
	u16 frame_code, code_flags;
	/*
	 * Up to 3.13 how deep calls are in C is counted: how many more are allowed, and the dispatch hooks
	 * of instructions that call without counting.
	 */
	u16 state_calls_left;
	u64 uncounted;
	/*
	 * RESUME's argument, of the one by which a generator expression is made (3.15): it is no
	 * event.
	 */
	u32 maker_mask, maker;
	/* What is called, and what stands beside it, in words below the arguments. */
	u8 callable_below, method_below;
	/* And of a call with arguments to be spread: below the top, with a word for names. */
	u8 has_names_always;
	u8 spread_below;
	u8 counter_shift; /* of the counter behind CALL: its lower bits are not the count */
	u64 tuple_type;
	u64 bound_type; /* PyMethod_Type; 0: its objects are called as they are */
	void *(*get_state)(void);
	void (*keep)(void *object); /* Py_IncRef, and Py_DecRef */
	void (*drop)(void *object);
	u8 opcodes[STUB_COUNT];
	void *originals[STUB_COUNT]; /* where each dispatch hook goes on; NULL: there is none */
	/* And where a call of a shim does, by any of its special forms. */
	void *call, *call_names, *call_spread;
	bool counts_down; /* call is CALL itself, which may be made special anew */
};
extern struct trace_dispatch trace_dispatch;
