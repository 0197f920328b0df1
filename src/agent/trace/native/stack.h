/*
 * stack - where a hook in compiled code is: on which of its thread's stacks, and below
 * whom.
 */
#pragma once
#include "agent/trace/native/native_internal.h"
#include "agent/trace/native/signal_stack.h"

/* A frame is smaller than that: what lies further below is another stack. */
#define TRACE_FRAME_MAX (1ULL << 20)

/* Which of its stacks a thread is on. */
enum trace_native_stack {
	TRACE_STACK_OWN,
	TRACE_STACK_OF_SIGNALS,
	TRACE_STACK_OTHER,
};

/* Of the calling thread: where its own ends, and as much of it as is there at once. */
void trace_native_find_own_stack(void);

/* A stack is written from its end on, a frame at a time. */
static inline enum trace_native_stack trace_native_stack_of(u64 level)
{
	struct trace_native_own *own = &trace_native_own;

	if (trace_signal_stack_holds(level))
		return TRACE_STACK_OF_SIGNALS;
	if (own->high == 0)
		trace_native_find_own_stack();
	if (level >= own->high)
		return TRACE_STACK_OTHER;
	if (level < own->low && own->low - level < TRACE_FRAME_MAX)
		own->low = level;
	return level >= own->low ? TRACE_STACK_OWN : TRACE_STACK_OTHER;
}

/*
 * What stands further in than the caller of an instrumented function that begins was left, and
 * nobody told of it: by an exception, or by a jump that the compiler has made of its own
 * (__builtin_longjmp(), as in Ruby) or setcontext() has.
 */
void trace_native_drop_what_was_left(struct tracer *tracer,
				     const struct trace_native_event *begin, u64 now);
