/*
 * walk_status - why the walk of a stack ended.
 *
 * Every walk ends with one of these; reports print the tally.
 */
#pragma once

#define WALK_STATUS_MAP(X)                                                                    \
	X(COMPLETE, 0, "complete", "reached the outermost frame")                             \
	X(TOO_DEEP, 1, "too_deep", "the stack is deeper than the limit")                      \
	X(UNREADABLE, 2, "unreadable", "a frame could not be read")                           \
	X(NO_RULE, 3, "no_rule", "no unwind rule for an address in a mapped file")            \
	X(NO_MODULE, 4, "no_module", "a return address outside every mapped file")            \
	X(BAD_RULE, 5, "bad_rule", "an unwind rule that is damaged or not supported")         \
	X(NO_PROGRESS, 6, "no_progress", "the stack pointer did not move outwards")           \
	X(NO_STACK, 7, "no_stack", "the stack's record was lost")                             \
	X(FORBIDDEN, 8, "forbidden", "to read a frame needs a call that a filter may forbid") \
	X(NO_ROOM, 9, "no_room", "the thread's stack had no room left to walk it")            \
	X(CODE_UNREADABLE, 10, "code_unreadable", "an interpreter's frame could not be read") \
	X(CODE_UNMATCHED, 11, "code_unmatched",                                               \
	  "an interpreter's frames did not fit the native ones of its loop")                  \
	X(SWITCHED, 12, "switched",                                                           \
	  "reached the outermost frame of a stack that was switched to, as a greenlet's is")  \
	X(MADE_CODE, 13, "made_code",                                                         \
	  "whole but for native frames beyond code that was made at run time")

#define WALK_STATUS_ENUM(name, number, word, sentence) WALK_##name = number,
enum walk_status { WALK_STATUS_MAP(WALK_STATUS_ENUM) WALK_STATUS_COUNT };
#undef WALK_STATUS_ENUM
