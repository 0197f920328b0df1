/*
 * trace_native_own - what a thread has for hooks in compiled code, and what is common in them.
 */
#pragma once
#include "vantage/agent/trace.h"
#include "vantage/agent/trace_native.h"
#include "vantage/agent/trace_returns.h"

/* Handlers in handlers, each of which came while the last one's hook was at its tree. */
#define TRACE_NATIVE_TREES 4U

struct trace_native_own {
	/*
	 * By tree: the level of the hook that is at it; 0: none.  Levels are even: 1 is added
	 * when events came meanwhile, which went to the next tree.
	 */
	u64 busy[TRACE_NATIVE_TREES];
	struct tracer *others[TRACE_NATIVE_TREES - 1]; /* behind trace_own */
	/* Of the thread's own stack, as far as it is known; both 0: not looked at so far. */
	u64 low, high;
};
extern __thread struct trace_native_own trace_native_own;

/* Whether an event is as most are: nobody is at the tree, and its stack has room. */
static inline bool trace_native_is_plain(const struct tracer *tracer)
{
	return tracer != NULL && trace_native_own.busy[0] == 0 && !trace_clock.is_special;
}

/*
 * Between these two the tree is the caller's.  In one thread: what a compiler must not move
 * is all there is.
 */
static inline void trace_native_lock(u64 level)
{
	trace_native_own.busy[0] = level;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Says whether nobody came meanwhile. */
static inline bool trace_native_unlock(u64 level)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const u64 busy = trace_native_own.busy[0];

	trace_native_own.busy[0] = 0;
	return __builtin_expect(busy == level, 1);
}

/* trace_native.c: what takes longer. */
/* A call at a level begins.  True: its end is awaited. */
bool trace_native_enter(u64 level, u64 function, enum trace_kind kind);
/* The call of an instrumented function ends, at this level or below it. */
void trace_native_leave(u64 level, u64 function);
/* Events went to another tree meanwhile: their time is not this one's. */
void trace_native_skip(struct tracer *tracer);
