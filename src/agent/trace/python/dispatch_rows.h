/*
 * dispatch_rows - what dispatch hooks need to know of each CPython version from 3.11 on.
 *
 * A new version needs a row here, for its eval loop, and a column in dispatch_map.h.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/trace/python/dispatch_map.h"

#define DISPATCH_HOOKS 64U

enum dispatch_hook_number {
#define X(number, name, ...) HOOK_BEFORE_##name = (number),
	DISPATCH_MAP(X) DISPATCH_WATCH_MAP(X)
#undef X
};

struct dispatch_row {
	u32 version;       /* PY_VERSION_HEX >> 16 */
	u16 state_tracing; /* PyThreadState.tracing, an offset */
	/* Offset of the thread state's count of C calls left, which `uncounted` ones skip. */
	u16 state_calls_left;
	u64 uncounted;       /* bits 1 << enum dispatch_hook_number */
	bool has_eval_frame; /* 3.11: eval_frame.h reports what no instruction shows */
	/* A run of unused opcodes, between two in use: identifies opcode_targets[]. */
	u8 first_unused, last_unused;
	/*
	 * Words of the value stack from the arguments down to the callable: at any call
	 * instruction;
	 */
	u8 callee_depth;
	/* at CALL, and down to a method, if there is one there instead (0: in the same place); */
	u8 callable_below, method_below;
	u8 spread_below;       /* at CALL_FUNCTION_EX, below the argument tuple */
	bool has_names_always; /* which always has a word for keyword arguments */
	u8 counter_shift; /* lower bits of the counter behind CALL that are not the count */
	/*
	 * RESUME with this argument (under the mask) only creates a generator expression, which
	 * is no event.  0 and 1: there is none.
	 */
	u8 maker_mask, maker;
	bool expands_methods; /* CALL replaces a bound method by its function */
	u64 tags; /* bits of words on the value stack that are not part of the address */
	u8 opcodes[DISPATCH_HOOKS]; /* by enum dispatch_hook_number; 0: no such instruction */
};

/* NULL: no dispatch hooks for this version. */
const struct dispatch_row *dispatch_row_of(u32 version);
