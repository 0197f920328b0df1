/*
 * frames_internal - what the files of trace_frames have in common.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/loop.h"

/*
 * Instructions of 3.11 (Include/opcode.h); the same in all its releases: they are in .pyc
 * files.
 */
#define OPCODE_NOP                   9
#define OPCODE_CALL_ADAPTIVE         22
#define OPCODE_CALL_PY_EXACT_ARGS    23
#define OPCODE_CALL_PY_WITH_DEFAULTS 24
#define OPCODE_CALL_FUNCTION_EX      142
#define OPCODE_PRECALL               166
#define OPCODE_CALL                  171
#define OPCODE_LAST_USED             180 /* of all but DO_TRACING */
#define OPCODE_DO_TRACING            255

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

/*
 * Entries of the table that are ours: the instruction, what its stub calls, is it for
 * builtins only.
 */
#define FRAMES_STUB_MAP(X)                                                           \
	X(22, call, false)        /* CALL_ADAPTIVE */                                \
	X(23, call, false)        /* CALL_PY_EXACT_ARGS */                           \
	X(24, call, false)        /* CALL_PY_WITH_DEFAULTS */                        \
	X(171, call, false)       /* CALL */                                         \
	X(67, precall, true)      /* PRECALL_BUILTIN_FAST_WITH_KEYWORDS */           \
	X(72, precall, true)      /* PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS */ \
	X(73, precall, true)      /* PRECALL_NO_KW_BUILTIN_FAST */                   \
	X(76, precall, true)      /* PRECALL_NO_KW_BUILTIN_O */                      \
	X(77, precall, true)      /* PRECALL_NO_KW_ISINSTANCE */                     \
	X(78, precall, true)      /* PRECALL_NO_KW_LEN */                            \
	X(79, precall, true)      /* PRECALL_NO_KW_LIST_APPEND */                    \
	X(80, precall, true)      /* PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST */         \
	X(81, precall, true)      /* PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS */       \
	X(113, precall, true)     /* PRECALL_NO_KW_METHOD_DESCRIPTOR_O */            \
	X(142, call_spread, true) /* CALL_FUNCTION_EX */                             \
	X(19, subscript, false)   /* BINARY_SUBSCR_GETITEM */                        \
	X(83, return, false)      /* RETURN_VALUE */                                 \
	X(35, handler, false)     /* PUSH_EXC_INFO */                                \
	X(255, turn, false)       /* DO_TRACING */

/* And while the hooks are watching, so that what they see comes from many instructions. */
#define FRAMES_WATCH_MAP(X)                   \
	X(1, watch, false)   /* POP_TOP */    \
	X(2, watch, false)   /* PUSH_NULL */  \
	X(90, watch, false)  /* STORE_NAME */ \
	X(100, watch, false) /* LOAD_CONST */ \
	X(101, watch, false) /* LOAD_NAME */  \
	X(122, watch, false) /* BINARY_OP */

#define FRAMES_DROPS 64U

enum frames_mode {
	FRAMES_OFF,
	FRAMES_WATCHING, /* the hooks only look where the loop has what */
	FRAMES_ON,
};

typedef void *frames_evaluator(void *state, void *frame, int is_throw);

struct trace_frames {
	enum frames_mode mode;
	u32 has_builtins;
	bool has_proxies; /* there can be stand-ins for C functions (python/proxies.h) */
	struct loop_places places;
	u64 function_type, tuple_type;
	frames_evaluator *evaluate; /* the interpreter's own */
	frames_evaluator *foreign;  /* another tool's, which was set when ours was */
	u64 evaluator_at;           /* in an interpreter's state */
	void *(*get_state)(void);
	u64 deallocate; /* _Py_Dealloc() */
	/* Where the loop goes on when it has dropped an object, as far as is known; 0: no more. */
	u64 drops[FRAMES_DROPS];
	const struct python_layout *layout;
	u64 code, code_bytes; /* the segment that has the loop */
	void *originals[LOOP_TABLE_WORDS];
};
extern struct trace_frames trace_frames;

struct tracer;

/*
 * C calls Python while the frame's innermost call is one of a C function: whether that one is
 * over, and the loop with this stack pointer drops its arguments.
 */
bool trace_frames_is_dropping(struct tracer *tracer, u64 frame, u64 loop_stack);
/* The evaluator of PEP 523. */
void *trace_frames_evaluate(void *state, void *frame, int is_throw);
/* What a stub calls; says where to go on. */
#define X(opcode, hook, is_of_builtins)                        \
	void *trace_frames_on_##hook(u64 *places, u64 number); \
	void trace_frames_stub_##opcode(void);
FRAMES_STUB_MAP(X)
FRAMES_WATCH_MAP(X)
#undef X
/* Whether to watch or test, in one word of memory. */
static inline bool frames_is_on(void)
{
	return __builtin_expect(trace_frames.mode == FRAMES_ON, 1);
}
