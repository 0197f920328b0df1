/*
 * walk_status - why the walk of a stack ended.
 *
 * Every walk ends with one of these; reports print how often each occurred.
 */
#pragma once

#define WALK_STATUS_MAP(X)                                                                    \
	X(COMPLETE, 0, "complete", "reached the outermost frame")                             \
	X(TOO_DEEP, 1, "too_deep",                                                            \
	  "the stack is deeper than the limit, or than what was copied of it")                \
	X(UNREADABLE, 2, "unreadable", "a frame could not be read")                           \
	X(NO_RULE, 3, "no_rule", "no unwind rule for an address in a mapped file")            \
	X(NO_MODULE, 4, "no_module", "code made at run time, or an address in no file")       \
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
	  "whole but for native frames beyond code that was made at run time")                \
	X(NATIVE_NO_RULE, 14, "native_no_rule",                                               \
	  "whole but for native frames beyond code without unwind rules")                     \
	X(NATIVE_CUT, 15, "native_cut",                                                       \
	  "whole but for native frames beyond one that could not be stepped out of")          \
	X(NO_SAMPLE, 16, "no_sample", "no sample: time of which only the thread is known")    \
	X(UNWINDING, 17, "unwinding",                                                         \
	  "an exception was on its way and had replaced what the frame saved")                \
	X(READ_LIMIT, 18, "read_limit",                                                       \
	  "to find its rules, as much had been read as in one walk may be")

#define WALK_STATUS_ENUM(name, number, word, sentence) WALK_##name = number,
enum walk_status { WALK_STATUS_MAP(WALK_STATUS_ENUM) WALK_STATUS_COUNT };
#undef WALK_STATUS_ENUM

/*
 * The status of a stack whose native part ended before the outermost frame with `ending`, but
 * whose interpreted frames are complete; `ending` itself if it is no such end.
 */
static inline enum walk_status walk_status_of_interpreted(enum walk_status ending)
{
	switch (ending) {
	case WALK_NO_MODULE:
		return WALK_MADE_CODE;
	case WALK_NO_RULE:
		return WALK_NATIVE_NO_RULE;
	case WALK_UNREADABLE:
	case WALK_BAD_RULE:
	case WALK_NO_PROGRESS:
	case WALK_UNWINDING:
	case WALK_READ_LIMIT:
		return WALK_NATIVE_CUT;
	default:
		return ending;
	}
}
