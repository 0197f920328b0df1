#include "agent/trace/python/dispatch_rows.h"

#include <stddef.h>

/* Forms that bypass the C function's vectorcall entry, which counts the depth of C recursion. */
#define IS(name) (1ULL << HOOK_BEFORE_##name)
#define UNCOUNTED_3_11                                                             \
	(IS(PRECALL_BUILTIN_FAST_WITH_KEYWORDS) | IS(PRECALL_NO_KW_BUILTIN_FAST) | \
	 IS(PRECALL_NO_KW_ISINSTANCE) | IS(PRECALL_NO_KW_LEN) |                    \
	 IS(PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS) |                        \
	 IS(PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST))
#define UNCOUNTED                                                                            \
	(IS(CALL_BUILTIN_FAST_WITH_KEYWORDS) | IS(CALL_BUILTIN_FAST) | IS(CALL_ISINSTANCE) | \
	 IS(CALL_LEN) | IS(CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS) |                      \
	 IS(CALL_METHOD_DESCRIPTOR_FAST))

/* A version's opcode, indexed by the hook's number. */
#define IN_3_11(number, name, hook, is_of_builtins, own, ...)          [number] = (own),
#define IN_3_12(number, name, hook, is_of_builtins, a, own, ...)       [number] = (own),
#define IN_3_13(number, name, hook, is_of_builtins, a, b, own, ...)    [number] = (own),
#define IN_3_14(number, name, hook, is_of_builtins, a, b, c, own, ...) [number] = (own),
#define IN_3_15(number, name, hook, is_of_builtins, a, b, c, d, own)   [number] = (own),

static const struct dispatch_row rows[] = {
	/* 3.11 */
	{
		.version = 0x030b,
		.state_tracing = 44,
		.state_calls_left = 32,
		.uncounted = UNCOUNTED_3_11,
		.has_eval_frame = true,
		.first_unused = 181,
		.last_unused = 254,
		.callee_depth = 1,
		.callable_below = 1,
		.method_below = 2,
		.spread_below = 2,
		.maker = 1,
		.opcodes = { DISPATCH_MAP(IN_3_11) DISPATCH_WATCH_MAP(IN_3_11) },
	},
	/* 3.12 */
	{
		.version = 0x030c,
		.state_tracing = 44,
		.state_calls_left = 36,
		.uncounted = UNCOUNTED,
		.first_unused = 177,
		.last_unused = 236,
		.callee_depth = 1,
		.callable_below = 1,
		.method_below = 2,
		.spread_below = 2,
		.counter_shift = 4,
		.maker = 1,
		.opcodes = { DISPATCH_MAP(IN_3_12) DISPATCH_WATCH_MAP(IN_3_12) },
	},
	/* 3.13 */
	{
		.version = 0x030d,
		.state_tracing = 60,
		.state_calls_left = 52,
		.uncounted = UNCOUNTED,
		.first_unused = 119,
		.last_unused = 148,
		.callee_depth = 2,
		.callable_below = 2,
		.spread_below = 3,
		.counter_shift = 4,
		.maker = 1,
		.opcodes = { DISPATCH_MAP(IN_3_13) DISPATCH_WATCH_MAP(IN_3_13) },
	},
	/* 3.14 */
	{
		.version = 0x030e,
		.state_tracing = 60,
		.first_unused = 212,
		.last_unused = 233,
		.callee_depth = 2,
		.callable_below = 2,
		.spread_below = 3,
		.counter_shift = 4,
		.has_names_always = true,
		.maker = 1,
		.expands_methods = true,
		.tags = 3,
		.opcodes = { DISPATCH_MAP(IN_3_14) DISPATCH_WATCH_MAP(IN_3_14) },
	},
	/* 3.15 */
	{
		.version = 0x030f,
		.state_tracing = 64,
		.first_unused = 219,
		.last_unused = 232,
		.callee_depth = 2,
		.callable_below = 2,
		.spread_below = 3,
		.counter_shift = 3,
		.has_names_always = true,
		.maker_mask = 7,
		.maker = 4,
		.expands_methods = true,
		.tags = 3,
		.opcodes = { DISPATCH_MAP(IN_3_15) DISPATCH_WATCH_MAP(IN_3_15) },
	},
};

const struct dispatch_row *dispatch_row_of(u32 version)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].version == version)
			return &rows[i];
	}
	return NULL;
}
