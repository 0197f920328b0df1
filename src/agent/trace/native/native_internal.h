/*
 * native_internal - a thread's state for hooks in compiled code, and the stack that one runs on.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/returns.h"
#include "agent/trace/native/signal_stack.h"

/* Trees per thread, for nested signal handlers that each interrupt a hook with its tree taken. */
#define TRACE_NATIVE_TREES 4U

struct trace_native_own {
	struct call_stack
		*others[TRACE_NATIVE_TREES - 1]; /* trees after trace_own; NULL: none so far */
	/* Bounds of the thread's own stack, as far as known; both 0: not looked at so far. */
	u64 low, high;
};
extern __thread struct trace_native_own trace_native_own;

/* Whether an event may take the fast path: the tree is not taken, and the clock is the counter. */
static inline bool trace_native_is_plain(const struct call_stack *calls)
{
	return calls != NULL && calls->busy == 0 && !trace_clock.is_special;
}

static inline bool trace_native_has_slot(const struct trace_entry *entry)
{
	return trace_native_is(entry->kind) && entry->kind != TRACE_KIND_INSTRUMENTED;
}

/* A flag in `named` of an entry with a slot, whose kinds have no other use for it. */
#define TRACE_SLOT_PUT_BACK 1U /* the original return address is in the slot for now */

/* native/native.c: the slow paths. */
/* An event as a hook reports it; the last three fields only for an instrumented function. */
struct trace_native_event {
	u64 level;
	u64 function;      /* 0, at an end: the call at exactly this level */
	u64 frame_pointer; /* the function's frame pointer register */
	u64 return_address;
	u64 behind; /* at a beginning: the address after the hook's call */
};
/* A call of an instrumented function begins. */
void trace_native_enter(const struct trace_native_event *begin);
/* A call ends; an instrumented function's at this level or further in. */
void trace_native_leave(const struct trace_native_event *end);

/* Frames are smaller: an address further below is on another stack. */
#define TRACE_FRAME_MAX (1ULL << 20)

/* The stack that a thread runs on. */
enum trace_native_stack {
	TRACE_STACK_OWN,
	TRACE_STACK_OF_SIGNALS,
	TRACE_STACK_OTHER,
};

/* Finds the end of the calling thread's own stack, and the part of it that surely exists. */
void trace_native_find_own_stack(void);

/* The stack an address is on.  Extends the known part of the own stack, which grows by frames. */
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
 * Ends calls inside the caller of an instrumented function that begins: they were left without an
 * event, by an exception, or by a jump that the compiler made itself (__builtin_longjmp(), as in
 * Ruby) or setcontext().
 */
void trace_native_drop_what_was_left(struct call_stack *calls,
				     const struct trace_native_event *begin, u64 now);
