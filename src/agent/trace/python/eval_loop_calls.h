/*
 * eval_loop_calls - Python functions among a thread's calls, known by their frames: for hooks
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
	/* Ends are known by their frames: those of calls that have no entry need no count. */
	calls->unstacked = 0;
}

/* The entry of a frame's function; the first of all entries: there is none. */
static inline struct trace_entry *loop_find_function(const struct call_stack *calls, u64 frame)
{
	struct trace_entry *entry = calls->top;

	while (entry > calls->entries && !loop_is_function(entry, frame))
		entry--;
	return entry;
}

/* Where there are too many entries the innermost frames have none: nothing would be found. */
static inline bool loop_is_full(const struct call_stack *calls)
{
	return calls->top == calls->limit;
}

/* As loop_leave(), of a function that is not the innermost call, or has no entry. */
static __attribute__((noinline, unused)) void loop_close_outer(struct call_stack *calls,
							       u64 frame, u64 now)
{
	const struct trace_entry *entry = loop_find_function(calls, frame);

	trace_advance(calls, now);
	while (entry > calls->entries && calls->top >= entry) {
		/* It goes on where the program does (regions.c). */
		calls->has_waiting |= calls->top->kind == TRACE_KIND_REGION;
		trace_pop(calls, now);
	}
}

/* This frame is being executed: what it called, and what has not returned, is over. */
static inline void loop_end_called(struct call_stack *calls, u64 frame)
{
	if (__builtin_expect(loop_is_function(calls->top, frame), 1) || loop_is_full(calls))
		return;
	const struct trace_entry *caller = loop_find_function(calls, frame);
	const u64 now = trace_now();

	trace_advance(calls, now);
	/* A region of its own is ended by the program. */
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

/* Nothing if it has no entry: it began before it was traced, or was too deep. */
static inline void loop_leave(struct call_stack *calls, u64 frame)
{
	const u64 now = trace_now();
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	loop_close(calls, frame, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}
