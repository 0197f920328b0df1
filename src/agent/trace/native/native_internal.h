/*
 * native_internal - what a thread has for hooks in compiled code, and what is common in them.
 */
#pragma once
#include "agent/trace/native/native.h"
#include "agent/trace/native/returns.h"
#include "agent/trace/trace.h"

/* Handlers in handlers, each of which came while the last one's hook was at its tree. */
#define TRACE_NATIVE_TREES 4U

struct trace_native_own {
	struct tracer *others[TRACE_NATIVE_TREES - 1]; /* behind trace_own; NULL: none so far */
	/* Of the thread's own stack, as far as it is known; both 0: not looked at so far. */
	u64 low, high;
};
extern __thread struct trace_native_own trace_native_own;

/* Whether an event is as most are: nobody is at the tree, and the clock is the counter. */
static inline bool trace_native_is_plain(const struct tracer *tracer)
{
	return tracer != NULL && tracer->busy == 0 && !trace_clock.is_special;
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
