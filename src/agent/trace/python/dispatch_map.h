/*
 * dispatch_map - the instructions that dispatch hooks precede.  For each: the hook's number, the
 * instruction's name, the function that the hook calls, whether it serves builtins only, and the
 * opcode in CPython 3.11 to 3.15 (0: the version lacks the instruction, or needs no hook there).
 * The assembler reads this file, too.
 *
 * Opcodes are the same in all releases of a version, as they are in .pyc files (Include/opcode.h,
 * Include/opcode_ids.h).  A test compares them with tests/unit/agent/opcodes/, which has them as
 * each version prints them.
 */
#pragma once

#define DISPATCH_MAP(X) /* 3.11, 3.12, 3.13, 3.14, 3.15 */                                    \
	X(0, RESUME, start, false, 151, 151, 149, 128, 128)                                   \
	X(1, RESUME_CHECK, start, false, 0, 0, 207, 196, 200)                                 \
	X(2, INSTRUMENTED_RESUME, start, false, 0, 240, 236, 245, 244)                        \
	X(3, RETURN_VALUE, end, false, 83, 83, 36, 35, 33)                                    \
	X(4, RETURN_CONST, end, false, 0, 121, 103, 0, 0)                                     \
	X(5, YIELD_VALUE, end, false, 0, 150, 118, 120, 119)                                  \
	X(6, INSTRUMENTED_RETURN_VALUE, end, false, 0, 242, 239, 246, 245)                    \
	X(7, INSTRUMENTED_RETURN_CONST, end, false, 0, 247, 240, 0, 0)                        \
	X(8, INSTRUMENTED_YIELD_VALUE, end, false, 0, 243, 241, 247, 246)                     \
	X(9, INSTRUMENTED_CALL, other, true, 0, 241, 244, 250, 249)                           \
	X(10, INSTRUMENTED_CALL_KW, other, true, 0, 0, 245, 251, 250)                         \
	X(11, INSTRUMENTED_CALL_FUNCTION_EX, other, true, 0, 244, 246, 252, 251)              \
	X(12, CALL, call, true, 171, 171, 53, 52, 50)                                         \
	X(13, CALL_KW, call_names, true, 0, 0, 57, 55, 53)                                    \
	X(14, CALL_FUNCTION_EX, call_spread, true, 142, 142, 54, 4, 4)                        \
	X(15, CALL_PY_EXACT_ARGS, special, true, 23, 23, 177, 161, 164)                       \
	X(16, CALL_PY_WITH_DEFAULTS, special, true, 24, 24, 0, 0, 0)                          \
	X(17, CALL_PY_GENERAL, special, true, 0, 0, 178, 162, 165)                            \
	X(18, CALL_BOUND_METHOD_EXACT_ARGS, special, true, 0, 28, 163, 144, 145)              \
	X(19, CALL_BOUND_METHOD_GENERAL, special, true, 0, 0, 164, 145, 146)                  \
	X(20, CALL_BUILTIN_CLASS, special, true, 0, 29, 165, 146, 147)                        \
	X(21, CALL_BUILTIN_FAST_WITH_KEYWORDS, special, true, 0, 34, 167, 148, 149)           \
	X(22, CALL_BUILTIN_FAST, special, true, 0, 39, 166, 147, 148)                         \
	X(23, CALL_BUILTIN_O, special, true, 0, 40, 168, 149, 150)                            \
	X(24, CALL_ISINSTANCE, special, true, 0, 41, 169, 150, 153)                           \
	X(25, CALL_LEN, special, true, 0, 42, 170, 154, 157)                                  \
	X(26, CALL_LIST_APPEND, special, true, 0, 43, 171, 155, 158)                          \
	X(27, CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, special, true, 0, 38, 173, 157, 160) \
	X(28, CALL_METHOD_DESCRIPTOR_FAST, special, true, 0, 44, 172, 156, 159)               \
	X(29, CALL_METHOD_DESCRIPTOR_NOARGS, special, true, 0, 45, 174, 158, 161)             \
	X(30, CALL_METHOD_DESCRIPTOR_O, special, true, 0, 46, 175, 159, 162)                  \
	X(31, CALL_STR_1, special, true, 0, 47, 179, 163, 166)                                \
	X(32, CALL_TUPLE_1, special, true, 0, 48, 180, 164, 167)                              \
	X(33, CALL_TYPE_1, special, true, 0, 56, 181, 165, 168)                               \
	X(34, CALL_ALLOC_AND_ENTER_INIT, special, true, 0, 0, 162, 143, 144)                  \
	X(35, CALL_NON_PY_GENERAL, special, true, 0, 0, 176, 160, 163)                        \
	X(36, CALL_KW_PY, special_names, true, 0, 0, 0, 153, 156)                             \
	X(37, CALL_KW_BOUND_METHOD, special_names, true, 0, 0, 0, 151, 154)                   \
	X(38, CALL_KW_NON_PY, special_names, true, 0, 0, 0, 152, 155)                         \
	X(39, CALL_EX_PY, special_spread, true, 0, 0, 0, 0, 152)                              \
	X(40, CALL_EX_NON_PY_GENERAL, special_spread, true, 0, 0, 0, 0, 151)                  \
	X(48, RESUME_CHECK_JIT, start, false, 0, 0, 0, 0, 201)                                \
	X(49, RESUME_QUICK, start, false, 150, 0, 0, 0, 0)                                    \
	X(50, RETURN_GENERATOR, begun, false, 75, 0, 0, 0, 0)                                 \
	X(51, PUSH_EXC_INFO, handler, false, 35, 0, 0, 0, 0)                                  \
	X(52, BINARY_SUBSCR_GETITEM, subscript, false, 19, 0, 0, 0, 0)                        \
	X(53, CALL_ADAPTIVE, call, false, 22, 0, 0, 0, 0)                                     \
	X(54, PRECALL_BUILTIN_FAST_WITH_KEYWORDS, precall, true, 67, 0, 0, 0, 0)              \
	X(55, PRECALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS, precall, true, 72, 0, 0, 0, 0)    \
	X(56, PRECALL_NO_KW_BUILTIN_FAST, precall, true, 73, 0, 0, 0, 0)                      \
	X(57, PRECALL_NO_KW_BUILTIN_O, precall, true, 76, 0, 0, 0, 0)                         \
	X(58, PRECALL_NO_KW_ISINSTANCE, precall, true, 77, 0, 0, 0, 0)                        \
	X(59, PRECALL_NO_KW_LEN, precall, true, 78, 0, 0, 0, 0)                               \
	X(60, PRECALL_NO_KW_LIST_APPEND, precall, true, 79, 0, 0, 0, 0)                       \
	X(61, PRECALL_NO_KW_METHOD_DESCRIPTOR_FAST, precall, true, 80, 0, 0, 0, 0)            \
	X(62, PRECALL_NO_KW_METHOD_DESCRIPTOR_NOARGS, precall, true, 81, 0, 0, 0, 0)          \
	X(63, PRECALL_NO_KW_METHOD_DESCRIPTOR_O, precall, true, 113, 0, 0, 0, 0)

/* Only in mode DISPATCH_WATCHING, to look at the loop's variables at many instructions. */
#define DISPATCH_WATCH_MAP(X)                                  \
	X(41, POP_TOP, watch, false, 1, 1, 32, 31, 29)         \
	X(42, PUSH_NULL, watch, false, 2, 2, 34, 33, 31)       \
	X(43, STORE_NAME, watch, false, 90, 90, 114, 116, 115) \
	X(44, LOAD_CONST, watch, false, 100, 100, 83, 82, 81)  \
	X(45, LOAD_NAME, watch, false, 101, 101, 92, 93, 92)   \
	X(46, BINARY_OP, watch, false, 122, 122, 45, 44, 42)   \
	X(47, LOAD_SMALL_INT, watch, false, 0, 0, 0, 94, 93)
