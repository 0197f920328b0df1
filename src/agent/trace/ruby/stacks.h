/*
 * stacks - whose calls stand where: a stack of calls for each execution context.
 *
 * A thread has a context, and each of its fibers.  As many stacks as there is room for are kept;
 * one that is not there is made anew of the context's control frames, which are the truth.  That
 * is also how a thread begins whose interpreter was running already, and a child of fork; what a
 * stack made anew loses is when its calls began, so their longest and shortest times are
 * those from then on.
 */
#pragma once
#include "agent/trace/trace.h"

/* The context whose calls are the calling thread's tracer's at this moment; 0: none. */
extern __thread u64 trace_ruby_context;

/* Goes on with another context's calls. */
void trace_ruby_switch(struct tracer *tracer, u64 context, u64 now);
/* The context has begun anew: nothing of what was kept of it holds. */
void trace_ruby_restart(struct tracer *tracer, u64 context, u64 now);
