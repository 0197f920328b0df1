/*
 * dispatch_3_11_map - the instructions of CPython 3.11 that there are dispatch hooks before: the number, the
 * name, what the dispatch hook calls, is it for builtins only.  The file is read by the assembler, too.
 */
#pragma once

#define DISPATCH_3_11_STUB_MAP(X)                                          \
	X(22, CALL_ADAPTIVE, call, false)                                  \
	X(23, CALL_PY_EXACT_ARGS, call, false)                             \
	X(24, CALL_PY_WITH_DEFAULTS, call, false)                          \
	X(171, CALL, call, false)                                          \
	X(67, PRECALL_BUILTIN_FAST_WITH_KEYWORDS, precall, true)           \
	X(72, PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, precall, true) \
	X(73, PRECALL_NO_KW_BUILTIN_FAST, precall, true)                   \
	X(76, PRECALL_NO_KW_BUILTIN_O, precall, true)                      \
	X(77, PRECALL_NO_KW_ISINSTANCE, precall, true)                     \
	X(78, PRECALL_NO_KW_LEN, precall, true)                            \
	X(79, PRECALL_NO_KW_LIST_APPEND, precall, true)                    \
	X(80, PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST, precall, true)         \
	X(81, PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS, precall, true)       \
	X(113, PRECALL_NO_KW_METHOD_DESCRIPTOR_O, precall, true)           \
	X(142, CALL_FUNCTION_EX, call_spread, true)                        \
	X(19, BINARY_SUBSCR_GETITEM, subscript, false)                     \
	X(83, RETURN_VALUE, return, false)                                 \
	X(35, PUSH_EXC_INFO, handler, false)                               \
	X(255, DO_TRACING, turn, false)

/* And while the hooks are watching, so that what they see comes from many instructions. */
#define DISPATCH_3_11_WATCH_MAP(X)       \
	X(1, POP_TOP, watch, false)      \
	X(2, PUSH_NULL, watch, false)    \
	X(90, STORE_NAME, watch, false)  \
	X(100, LOAD_CONST, watch, false) \
	X(101, LOAD_NAME, watch, false)  \
	X(122, BINARY_OP, watch, false)

/* What hooks look at besides. */
#define DISPATCH_3_11_OTHER_MAP(X) \
	X(9, NOP, none, false)     \
	X(166, PRECALL, none, false)
