/*
 * dispatch_rows - what differs between CPython 3.11 and later for their dispatch hooks
 * (dispatch.h): a row for each version.
 *
 * A new version is a row here, where its eval loop has changed, and a column of dispatch_map.h.
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
	/* Its count of the calls in C that are still allowed, from which `uncounted` instructions keep out. */
	u16 state_calls_left;
	u64 uncounted;       /* by 1 << enum dispatch_hook_number */
	bool has_eval_frame; /* 3.11: what no event reports is seen by eval_frame.h */
	/* Numbers that no instruction has, between two that some have: opcode_targets[] is known by it. */
	u8 first_unused, last_unused;
	/* In words of the value stack below the arguments: what is called, as any call has it; */
	u8 callee_depth;
	/* as CALL has it, and the method if there is one (0: it stands there as well); */
	u8 callable_below, method_below;
	u8 spread_below;       /* as CALL_FUNCTION_EX has it, below what is spread */
	bool has_names_always; /* which has a word for names, where there are none, too */
	u8 counter_shift; /* of the counter behind CALL: its lower bits are not the count */
	/*
	 * RESUME's argument, by a mask, of the one by which a generator expression is made: it is no
	 * event.  0 and 1: there is no such.
	 */
	u8 maker_mask, maker;
	bool expands_methods; /* a bound method is called, and reported, as its function */
	u64 tags; /* bits of words of the value stack that are no part of an address */
	u8 opcodes
		[DISPATCH_HOOKS]; /* by enum dispatch_hook_number; 0: there is no such instruction */
};

/* NULL: dispatch hooks do not know this version. */
const struct dispatch_row *dispatch_row_of(u32 version);
