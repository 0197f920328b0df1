/*
 * loop_calls - Python functions among a thread's calls, known by their frames: for hooks
 * that come between two of the loop's instructions.
 */
#pragma once
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/python/objects.h"

static inline bool loop_is_function(const struct trace_entry *entry, u64 frame)
{
	return entry->frame == frame && entry->kind == TRACE_KIND_PYTHON;
}

static inline void loop_enter(struct tracer *tracer, u64 frame, u64 code)
{
	const u64 now = trace_now();

	trace_enter(tracer,
		    (struct trace_call){ .identity = trace_python_identity(code),
					 .object = code,
					 .named = code,
					 .frame = frame,
					 .kind = TRACE_KIND_PYTHON },
		    now);
	/* Ends are known by their frames: those of calls that have no entry need no count. */
	tracer->unstacked = 0;
}

/* The entry of a frame's function; the first of all entries: there is none. */
static inline struct trace_entry *loop_find_function(const struct tracer *tracer, u64 frame)
{
	struct trace_entry *entry = tracer->top;

	while (entry > tracer->entries && !loop_is_function(entry, frame))
		entry--;
	return entry;
}

/* Where there are too many entries the innermost frames have none: nothing would be found. */
static inline bool loop_is_full(const struct tracer *tracer)
{
	return tracer->top == tracer->limit;
}

/* As loop_leave(), of a function that is not the innermost call, or has no entry. */
static __attribute__((noinline, unused)) void loop_close_outer(struct tracer *tracer, u64 frame,
							       u64 now)
{
	const struct trace_entry *entry = loop_find_function(tracer, frame);

	trace_advance(tracer, now);
	while (entry > tracer->entries && tracer->top >= entry) {
		/* It goes on where the program does (regions.c). */
		tracer->has_waiting |= tracer->top->kind == TRACE_KIND_REGION;
		trace_pop(tracer, now);
	}
}

static inline void loop_close(struct tracer *tracer, u64 frame, u64 now)
{
	if (__builtin_expect(loop_is_function(tracer->top, frame), 1)) {
		trace_advance(tracer, now);
		trace_pop(tracer, now);
	} else if (!loop_is_full(tracer)) {
		loop_close_outer(tracer, frame, now);
	}
}

/* Nothing if it has no entry: it began before it was traced, or was too deep. */
static inline void loop_leave(struct tracer *tracer, u64 frame)
{
	const u64 now = trace_now();
	const u64 level = arch_stack_pointer();

	trace_take(tracer, level);
	loop_close(tracer, frame, now);
	if (!trace_give(tracer, level))
		trace_skip(tracer);
}
