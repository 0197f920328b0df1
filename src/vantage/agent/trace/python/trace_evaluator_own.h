/*
 * trace_evaluator_own - what the files of trace_evaluator have in common.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"
#include "vantage/agent/trace/python/trace_loop.h"

/* Instructions of 3.8 to 3.10 (Include/opcode.h); those of a version do not change. */
#define OPCODE_CALL_FUNCTION 131

/* Entries of both tables that are ours: the instruction, and what its stub calls. */
#define EVALUATOR_STUB_MAP(X)                      \
	X(131, call)        /* CALL_FUNCTION */    \
	X(141, call_names)  /* CALL_FUNCTION_KW */ \
	X(142, call_spread) /* CALL_FUNCTION_EX */ \
	X(161, call_method) /* CALL_METHOD */

/* And of the loop's table while the hooks are watching (trace_loop_watch()). */
#define EVALUATOR_WATCH_MAP(X)  \
	X(1)   /* POP_TOP */    \
	X(23)  /* BINARY_ADD */ \
	X(90)  /* STORE_NAME */ \
	X(100) /* LOAD_CONST */ \
	X(101) /* LOAD_NAME */  \
	X(131) /* CALL_FUNCTION */

/* Offsets of 3.8 to 3.10: Include/cpython/pystate.h, frameobject.h and code.h. */
#define STATE_INTERPRETER 16
#define STATE_TRACING     44 /* int: it is executing another tool's trace function */
#define STATE_PROFILE     56 /* c_profilefunc */
#define FRAME_CODE        32
#define CODE_BYTES        48 /* co_code */

enum evaluator_mode {
	EVALUATOR_OFF,
	EVALUATOR_ON,
};

struct trace_evaluator {
	/* Evaluators; the first two are known to trace_evaluator_x86_64.S. */
	void *next;     /* what executes frames: the original, or the foreign one */
	void *original; /* the interpreter's own */
	void *foreign;  /* another tool's that was set when ours was; or NULL */
	void *ours;
	u64 tuple_type;
	struct loop_places places;
	u16 evaluator_at; /* in an interpreter's state */
	u16 frame_begun;  /* in a frame: */
	bool is_state; /* f_state, an int that is less than 0 before; else f_stacktop, not 0 */
	void *(*get_state)(void);
};
_Static_assert(offsetof(struct trace_evaluator, next) == 0 &&
		       offsetof(struct trace_evaluator, original) == 8,
	       "as trace_evaluator_x86_64.S has them");
extern struct trace_evaluator trace_evaluator;

/* Where the stubs go on, and where the entries of the loop's table pointed before. */
extern void *trace_evaluator_originals[LOOP_TABLE_WORDS];

/* Ours, for 3.8 and for later versions, and what they call before and after. */
void *trace_evaluator_of_frame(void *frame, int is_throw);
void *trace_evaluator_of_state(void *state, void *frame, int is_throw);
/* False: this frame's call does not begin here.  state 0: the calling thread's. */
bool trace_evaluator_began(u64 state, u64 frame);
void trace_evaluator_ended(u64 frame, const void *result);
/* What a stub calls with what it has pushed. */
#define X(opcode, hook)                              \
	void trace_evaluator_on_##hook(u64 *places); \
	void trace_evaluator_stub_##opcode(void);
EVALUATOR_STUB_MAP(X)
#undef X
#define X(opcode) void trace_evaluator_watch_##opcode(void);
EVALUATOR_WATCH_MAP(X)
#undef X

/* What stands in a table for an instruction, while it is ours. */
struct evaluator_stub {
	u32 opcode;
	void (*stub)(void);
};
#define X(opcode, hook) +1
enum { EVALUATOR_STUBS = 0 EVALUATOR_STUB_MAP(X) };
#undef X
/* Those of both tables. */
extern const struct evaluator_stub trace_evaluator_stubs[EVALUATOR_STUBS];

/*
 * trace_evaluator_switch.c: the table of the loop's switch, in the image that has the loop's.
 * Its entries for the opcodes lead where those of `originals` lead.  False: there is none that
 * is known to be it.
 */
struct switch_table {
	u64 address;
	u64 jumps; /* to the stubs, where its entries are distances */
	bool is_of_distances;
};
bool trace_evaluator_find_switch(const struct python_layout *layout, const void *loop_table,
				 struct switch_table *out);
/* Its entries for the stubs' opcodes become the stubs', or are as they were. */
bool trace_evaluator_write_switch(const struct switch_table *table, bool has_stubs);

static inline void **evaluator_at(u64 state)
{
	return (void **)(loop_word(state + STATE_INTERPRETER) + trace_evaluator.evaluator_at);
}
