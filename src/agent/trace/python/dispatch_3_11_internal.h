/*
 * dispatch_3_11_internal - what the files of trace_dispatch_3_11 have in common.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/dispatch_3_11_map.h"
#include "agent/trace/python/eval_loop.h"

/* Instructions of 3.11 (Include/opcode.h); the same in all its releases: they are in .pyc files. */
enum dispatch_3_11_opcode {
#define X(number, name, ...) OPCODE_##name = (number),
	DISPATCH_3_11_STUB_MAP(X) DISPATCH_3_11_WATCH_MAP(X) DISPATCH_3_11_OTHER_MAP(X)
#undef X
		OPCODE_LAST_USED = 180, /* of all but DO_TRACING */
};

/* Offsets of 3.11: Include/internal/pycore_frame.h, Include/cpython/pystate.h and code.h. */
#define CFRAME_TRACING    0 /* use_tracing, a byte */
#define CFRAME_FRAME      8
#define CFRAME_PREVIOUS   16
#define STATE_INTERPRETER 16
#define STATE_REMAINING   32 /* recursion_remaining, an int; and recursion_headroom */
#define STATE_HEADROOM    40
#define STATE_TRACING     44 /* int: it is executing another tool's trace function */
#define STATE_CFRAME      56
#define STATE_PROFILE     64 /* c_profilefunc, and c_tracefunc */
#define STATE_TRACE       72
#define FRAME_CODE        32
#define FRAME_PREVIOUS    48
#define FRAME_POSITION    56 /* prev_instr */
#define FRAME_IS_ENTRY    68 /* a loop began with it */
#define FRAME_OWNER       69
#define CODE_FLAGS        48
#define CODE_INSTRUCTIONS 184

#define DISPATCH_3_11_DROPS 64U

enum dispatch_3_11_mode {
	DISPATCH_3_11_OFF,
	DISPATCH_3_11_WATCHING, /* the hooks only look where the loop has what */
	DISPATCH_3_11_ON,
};

typedef void *frames_evaluator(void *state, void *frame, int is_throw);

struct trace_dispatch_3_11 {
	enum dispatch_3_11_mode mode;
	u32 has_builtins;
	bool has_shims; /* there can be shims for C functions (python/callable_shims.h) */
	struct loop_places places;
	u64 function_type, tuple_type;
	frames_evaluator *evaluate; /* the interpreter's own */
	frames_evaluator *foreign;  /* another tool's, which was set when ours was */
	u64 evaluator_at;           /* in an interpreter's state */
	void *(*get_state)(void);
	u64 deallocate; /* _Py_Dealloc() */
	/* Where the loop goes on when it has dropped an object, as far as is known; 0: no more. */
	u64 drops[DISPATCH_3_11_DROPS];
	const struct python_layout *layout;
	u64 code, code_bytes; /* the segment that has the loop */
	void *originals[LOOP_TABLE_WORDS];
};
extern struct trace_dispatch_3_11 trace_dispatch_3_11;

struct call_stack;

/*
 * C calls Python while the frame's innermost call is one of a C function: whether that one is
 * over, and the loop with this stack pointer drops its arguments.
 */
bool trace_dispatch_3_11_is_dropping(struct call_stack *calls, u64 frame, u64 loop_stack);
/* The evaluator of PEP 523. */
void *trace_dispatch_3_11_evaluate(void *state, void *frame, int is_throw);
/* What a dispatch hook calls; says where to go on. */
#define X(opcode, name, hook, is_of_builtins)                         \
	void *trace_dispatch_3_11_on_##hook(u64 *places, u64 number); \
	void trace_dispatch_3_11_entry_##opcode(void);
DISPATCH_3_11_STUB_MAP(X)
DISPATCH_3_11_WATCH_MAP(X)
#undef X
/* Whether to watch or test, in one word of memory. */
static inline bool frames_is_on(void)
{
	return __builtin_expect(trace_dispatch_3_11.mode == DISPATCH_3_11_ON, 1);
}
