/*
 * stubs_map - what there are stubs for: a number of the stub's own, the instruction, what
 * the stub calls, is it for builtins only, and the instruction's number in 3.12, 3.13, 3.14 and
 * 3.15 (Include/opcode_ids.h; 0: there is none).
 *
 * Those numbers are in .pyc files, and the same in all releases of a version.  The file is read
 * by the assembler, too.
 */
#pragma once

#define STUBS_MAP(X)                                                                       \
	X(0, RESUME, start, false, 151, 149, 128, 128)                                     \
	X(1, RESUME_CHECK, start, false, 0, 207, 196, 200)                                 \
	X(2, INSTRUMENTED_RESUME, start, false, 240, 236, 245, 244)                        \
	X(3, RETURN_VALUE, end, false, 83, 36, 35, 33)                                     \
	X(4, RETURN_CONST, end, false, 121, 103, 0, 0)                                     \
	X(5, YIELD_VALUE, end, false, 150, 118, 120, 119)                                  \
	X(6, INSTRUMENTED_RETURN_VALUE, end, false, 242, 239, 246, 245)                    \
	X(7, INSTRUMENTED_RETURN_CONST, end, false, 247, 240, 0, 0)                        \
	X(8, INSTRUMENTED_YIELD_VALUE, end, false, 243, 241, 247, 246)                     \
	X(9, INSTRUMENTED_CALL, other, true, 241, 244, 250, 249)                           \
	X(10, INSTRUMENTED_CALL_KW, other, true, 0, 245, 251, 250)                         \
	X(11, INSTRUMENTED_CALL_FUNCTION_EX, other, true, 244, 246, 252, 251)              \
	X(12, CALL, call, true, 171, 53, 52, 50)                                           \
	X(13, CALL_KW, call_names, true, 0, 57, 55, 53)                                    \
	X(14, CALL_FUNCTION_EX, call_spread, true, 142, 54, 4, 4)                          \
	X(15, CALL_PY_EXACT_ARGS, special, true, 23, 177, 161, 164)                        \
	X(16, CALL_PY_WITH_DEFAULTS, special, true, 24, 0, 0, 0)                           \
	X(17, CALL_PY_GENERAL, special, true, 0, 178, 162, 165)                            \
	X(18, CALL_BOUND_METHOD_EXACT_ARGS, special, true, 28, 163, 144, 145)              \
	X(19, CALL_BOUND_METHOD_GENERAL, special, true, 0, 164, 145, 146)                  \
	X(20, CALL_BUILTIN_CLASS, special, true, 29, 165, 146, 147)                        \
	X(21, CALL_BUILTIN_FAST_WITH_KEYWORDS, special, true, 34, 167, 148, 149)           \
	X(22, CALL_BUILTIN_FAST, special, true, 39, 166, 147, 148)                         \
	X(23, CALL_BUILTIN_O, special, true, 40, 168, 149, 150)                            \
	X(24, CALL_ISINSTANCE, special, true, 41, 169, 150, 153)                           \
	X(25, CALL_LEN, special, true, 42, 170, 154, 157)                                  \
	X(26, CALL_LIST_APPEND, special, true, 43, 171, 155, 158)                          \
	X(27, CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, special, true, 38, 173, 157, 160) \
	X(28, CALL_METHOD_DESCRIPTOR_FAST, special, true, 44, 172, 156, 159)               \
	X(29, CALL_METHOD_DESCRIPTOR_NOARGS, special, true, 45, 174, 158, 161)             \
	X(30, CALL_METHOD_DESCRIPTOR_O, special, true, 46, 175, 159, 162)                  \
	X(31, CALL_STR_1, special, true, 47, 179, 163, 166)                                \
	X(32, CALL_TUPLE_1, special, true, 48, 180, 164, 167)                              \
	X(33, CALL_TYPE_1, special, true, 56, 181, 165, 168)                               \
	X(34, CALL_ALLOC_AND_ENTER_INIT, special, true, 0, 162, 143, 144)                  \
	X(35, CALL_NON_PY_GENERAL, special, true, 0, 176, 160, 163)                        \
	X(36, CALL_KW_PY, special_names, true, 0, 0, 153, 156)                             \
	X(37, CALL_KW_BOUND_METHOD, special_names, true, 0, 0, 151, 154)                   \
	X(38, CALL_KW_NON_PY, special_names, true, 0, 0, 152, 155)                         \
	X(39, CALL_EX_PY, special_spread, true, 0, 0, 0, 152)                              \
	X(40, CALL_EX_NON_PY_GENERAL, special_spread, true, 0, 0, 0, 151)

/* And while the hooks are watching, so that what they see comes from many instructions. */
#define STUBS_WATCH_MAP(X)                                 \
	X(41, POP_TOP, watch, false, 1, 32, 31, 29)        \
	X(42, PUSH_NULL, watch, false, 2, 34, 33, 31)      \
	X(43, STORE_NAME, watch, false, 90, 114, 116, 115) \
	X(44, LOAD_CONST, watch, false, 100, 83, 82, 81)   \
	X(45, LOAD_NAME, watch, false, 101, 92, 93, 92)    \
	X(46, BINARY_OP, watch, false, 122, 45, 44, 42)    \
	X(47, LOAD_SMALL_INT, watch, false, 0, 0, 94, 93)
