/*
 * eval_loop_calls - enters and leaves Python functions, identified by their frames, for hooks
 * that come between two of the loop's instructions.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/python/function_calls.h"

static inline bool loop_is_function(const struct trace_entry *entry, u64 frame)
{
	return entry->frame == frame && entry->kind == TRACE_KIND_PYTHON;
}

static inline void loop_enter(struct call_stack *calls, u64 frame, u64 code)
{
	const u64 now = trace_now();

	trace_enter(calls, trace_function_call(code, frame), now);
	/* Ends are matched by frame, so calls without an entry need no count. */
	calls->unstacked = 0;
}

/* The entry of a frame's function, or the root's if there is none. */
static inline struct trace_entry *loop_find_function(const struct call_stack *calls, u64 frame)
{
	struct trace_entry *entry = calls->top;

	while (entry > calls->entries && !loop_is_function(entry, frame))
		entry--;
	return entry;
}

/* Whether the stack is full: then the innermost frames have no entry, and no search is made. */
static inline bool loop_is_full(const struct call_stack *calls)
{
	return calls->top == calls->limit;
}

/* loop_leave() for a function that is not the innermost call, or has no entry. */
static __attribute__((noinline, unused)) void loop_close_outer(struct call_stack *calls,
							       u64 frame, u64 now)
{
	const struct trace_entry *entry = loop_find_function(calls, frame);

	trace_advance(calls, now);
	while (entry > calls->entries && calls->top >= entry) {
		/* An open region goes on where its function's caller does (regions.c). */
		calls->has_waiting |= calls->top->kind == TRACE_KIND_REGION;
		trace_pop(calls, now);
	}
}

/* This frame is executing: ends calls inside it whose ends were missed. */
static inline void loop_end_called(struct call_stack *calls, u64 frame)
{
	if (__builtin_expect(loop_is_function(calls->top, frame), 1) || loop_is_full(calls))
		return;
	const struct trace_entry *caller = loop_find_function(calls, frame);
	const u64 now = trace_now();

	trace_advance(calls, now);
	/* The program itself ends a region of this frame. */
	while (caller > calls->entries && calls->top > caller &&
	       calls->top->kind != TRACE_KIND_REGION)
		trace_pop(calls, now);
}

static inline void loop_close(struct call_stack *calls, u64 frame, u64 now)
{
	if (__builtin_expect(loop_is_function(calls->top, frame), 1)) {
		trace_advance(calls, now);
		trace_pop(calls, now);
	} else if (!loop_is_full(calls)) {
		loop_close_outer(calls, frame, now);
	}
}

/* Leaves a frame.  Nothing without an entry: it began before tracing, or was too deep. */
static inline void loop_leave(struct call_stack *calls, u64 frame)
{
	const u64 now = trace_now();
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	loop_close(calls, frame, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}
