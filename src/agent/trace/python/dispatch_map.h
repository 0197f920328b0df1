/*
 * dispatch_map - the instructions that there are dispatch hooks before: a number of the hook's own, the
 * instruction's name, the function that the hook calls, whether it is for builtins only.  The assembler
 * reads this file, too.
 */
#pragma once

#define DISPATCH_MAP(X)                                                 \
	X(0, RESUME, start, false)                                      \
	X(1, RESUME_CHECK, start, false)                                \
	X(2, INSTRUMENTED_RESUME, start, false)                         \
	X(3, RETURN_VALUE, end, false)                                  \
	X(4, RETURN_CONST, end, false)                                  \
	X(5, YIELD_VALUE, end, false)                                   \
	X(6, INSTRUMENTED_RETURN_VALUE, end, false)                     \
	X(7, INSTRUMENTED_RETURN_CONST, end, false)                     \
	X(8, INSTRUMENTED_YIELD_VALUE, end, false)                      \
	X(9, INSTRUMENTED_CALL, other, true)                            \
	X(10, INSTRUMENTED_CALL_KW, other, true)                        \
	X(11, INSTRUMENTED_CALL_FUNCTION_EX, other, true)               \
	X(12, CALL, call, true)                                         \
	X(13, CALL_KW, call_names, true)                                \
	X(14, CALL_FUNCTION_EX, call_spread, true)                      \
	X(15, CALL_PY_EXACT_ARGS, special, true)                        \
	X(16, CALL_PY_WITH_DEFAULTS, special, true)                     \
	X(17, CALL_PY_GENERAL, special, true)                           \
	X(18, CALL_BOUND_METHOD_EXACT_ARGS, special, true)              \
	X(19, CALL_BOUND_METHOD_GENERAL, special, true)                 \
	X(20, CALL_BUILTIN_CLASS, special, true)                        \
	X(21, CALL_BUILTIN_FAST_WITH_KEYWORDS, special, true)           \
	X(22, CALL_BUILTIN_FAST, special, true)                         \
	X(23, CALL_BUILTIN_O, special, true)                            \
	X(24, CALL_ISINSTANCE, special, true)                           \
	X(25, CALL_LEN, special, true)                                  \
	X(26, CALL_LIST_APPEND, special, true)                          \
	X(27, CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, special, true) \
	X(28, CALL_METHOD_DESCRIPTOR_FAST, special, true)               \
	X(29, CALL_METHOD_DESCRIPTOR_NOARGS, special, true)             \
	X(30, CALL_METHOD_DESCRIPTOR_O, special, true)                  \
	X(31, CALL_STR_1, special, true)                                \
	X(32, CALL_TUPLE_1, special, true)                              \
	X(33, CALL_TYPE_1, special, true)                               \
	X(34, CALL_ALLOC_AND_ENTER_INIT, special, true)                 \
	X(35, CALL_NON_PY_GENERAL, special, true)                       \
	X(36, CALL_KW_PY, special_names, true)                          \
	X(37, CALL_KW_BOUND_METHOD, special_names, true)                \
	X(38, CALL_KW_NON_PY, special_names, true)                      \
	X(39, CALL_EX_PY, special_spread, true)                         \
	X(40, CALL_EX_NON_PY_GENERAL, special_spread, true)             \
	X(48, RESUME_CHECK_JIT, start, false)

/* Of 3.11 only: later versions have some of them, too, and need no hook before them. */
#define DISPATCH_MAP_3_11(X)                                               \
	X(49, RESUME_QUICK, start, false)                                  \
	X(50, RETURN_GENERATOR, begun, false)                              \
	X(51, PUSH_EXC_INFO, handler, false)                               \
	X(52, BINARY_SUBSCR_GETITEM, subscript, false)                     \
	X(53, CALL_ADAPTIVE, call, false)                                  \
	X(54, PRECALL_BUILTIN_FAST_WITH_KEYWORDS, precall, true)           \
	X(55, PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, precall, true) \
	X(56, PRECALL_NO_KW_BUILTIN_FAST, precall, true)                   \
	X(57, PRECALL_NO_KW_BUILTIN_O, precall, true)                      \
	X(58, PRECALL_NO_KW_ISINSTANCE, precall, true)                     \
	X(59, PRECALL_NO_KW_LEN, precall, true)                            \
	X(60, PRECALL_NO_KW_LIST_APPEND, precall, true)                    \
	X(61, PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST, precall, true)         \
	X(62, PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS, precall, true)       \
	X(63, PRECALL_NO_KW_METHOD_DESCRIPTOR_O, precall, true)

/* And while the hooks are watching, so that what they see comes from many instructions. */
#define DISPATCH_WATCH_MAP(X)           \
	X(41, POP_TOP, watch, false)    \
	X(42, PUSH_NULL, watch, false)  \
	X(43, STORE_NAME, watch, false) \
	X(44, LOAD_CONST, watch, false) \
	X(45, LOAD_NAME, watch, false)  \
	X(46, BINARY_OP, watch, false)  \
	X(47, LOAD_SMALL_INT, watch, false)
