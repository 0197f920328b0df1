/*
 * native_internal - what a thread has for hooks in compiled code, where a hook is (on
 * which of its thread's stacks, and below what), and what is common in them.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/returns.h"
#include "agent/trace/native/signal_stack.h"

/* Handlers in handlers, each of which came while the last one's hook was at its tree. */
#define TRACE_NATIVE_TREES 4U

struct trace_native_own {
	struct call_stack
		*others[TRACE_NATIVE_TREES - 1]; /* behind trace_own; NULL: none so far */
	/* Of the thread's own stack, as far as it is known; both 0: not looked at so far. */
	u64 low, high;
};
extern __thread struct trace_native_own trace_native_own;

/* Whether an event is as most are: no hook is at the tree, and the clock is the counter. */
static inline bool trace_native_is_plain(const struct call_stack *calls)
{
	return calls != NULL && calls->busy == 0 && !trace_clock.is_special;
}

static inline bool trace_native_has_slot(const struct trace_entry *entry)
{
	return trace_native_is(entry->kind) && entry->kind != TRACE_KIND_INSTRUMENTED;
}

/* What such an entry has in place of what it was named by, for which compiled code has no use. */
#define TRACE_SLOT_PUT_BACK 1U /* its return address is in its place meanwhile */

/* native/native.c: what takes longer. */
/* What a hook says; the last three only of an instrumented function. */
struct trace_native_event {
	u64 level;
	u64 function;      /* 0, at an end: whichever is at this very level */
	u64 frame_pointer; /* what that register holds in it */
	u64 return_address;
	u64 behind; /* the hook's call, where a function begins */
};
/* A call of an instrumented function begins. */
void trace_native_enter(const struct trace_native_event *begin);
/* A call ends; an instrumented function's at this level or below it. */
void trace_native_leave(const struct trace_native_event *end);

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
 * What is further in than the caller of an instrumented function that begins was left, and
 * not reported: by an exception, or by a jump that the compiler has made of its own
 * (__builtin_longjmp(), as in Ruby) or setcontext() has.
 */
void trace_native_drop_what_was_left(struct call_stack *calls,
				     const struct trace_native_event *begin, u64 now);
