/*
 * calls - the calls of each thread, as hooks report them.
 *
 * A hook calls trace_enter() where a call begins and trace_leave() where it ends.  An interpreter's
 * hooks run between two of its instructions, never in a signal handler; those of compiled code
 * wherever it runs.  call_tree.h has what is counted, names.h what it is called.
 */
#pragma once
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/arch.h"
#include "agent/trace/call_tree.h"
#include "agent/trace/clock.h"

/* A call as a hook reports it. */
struct trace_call {
	u64 identity; /* of the callee: never 0 */
	u64 object;   /* struct trace_entry has these */
	u64 named;
	u64 frame;
	enum trace_kind kind;
};

/* The calling thread's; NULL: it has none so far. */
extern __thread struct call_stack *trace_own;

/* A call that is being executed, and did not begin where it would have been counted. */
void trace_stand(struct call_stack *calls, const struct trace_call *call);
/* The same of entries that are another tree's, outermost first. */
void trace_stand_again(struct call_stack *calls, const struct trace_entry *entries, u32 count);
/* The calling thread's calls, counted for a while in an area of their own. */
struct trace_aside {
	struct call_stack calls; /* the caller's to read before it ends; its entries are kept */
	struct call_stack *own;  /* the thread's from before */
	bool was_off;
};
/*
 * Counts in an area of its own, also where tracing is off, until trace_end_aside(); false:
 * there is no memory.  What is done meanwhile is in no call's time.  By one thread at a time.
 */
bool trace_begin_aside(struct trace_aside *aside);
void trace_end_aside(struct trace_aside *aside);
/* Begins to count the calling thread; NULL: it cannot be. */
struct call_stack *trace_begin_thread(void);
/*
 * One more stack for a thread that switches stacks, empty (trace_switch_stack()); false: there is
 * no memory.  As no stack is ever given back, its user keeps it for another.
 */
bool trace_make_stack(const struct call_stack *calls, struct trace_stack *out_stack);
/*
 * A call that is not of the callee that was its caller's last, or at which the processor's speed is
 * due (processor_speed.h).  Not a struct: that would be put together in memory at each call, for those of
 * the other kind as well.
 */
void trace_enter_elsewhere(struct call_stack *calls, u64 identity, u64 object, u64 named,
			   u64 frame, enum trace_kind kind);
/* There is an area: threads that begin take slots of it. */
void trace_calls_begin(void);
/* In a child of fork: what the parent counted is the parent's. */
void trace_calls_forget(void);
/* There is an area again: what the calling thread executes stands in it.  False: it is not traced. */
bool trace_calls_adopt(void);
/* By the program: calls are followed as before, but not counted (1), or counted again (0). */
void trace_calls_set_off(u32 is_off);

static inline struct call_stack *trace_of_thread(void)
{
	struct call_stack *own = trace_own;

	return __builtin_expect(own != NULL, 1) ? own : trace_begin_thread();
}

/*
 * regions.c: the innermost call may be of a generator, or a coroutine, that had regions
 * when it was left: they are open again.
 */
void trace_region_return(struct call_stack *calls);

/*
 * The time since the last event is no call's: searching for a node, and naming it, took it.  Says how
 * long it was, in ticks.
 */
u64 trace_leave_out(struct call_stack *calls);
/* Events of a handler went to another tree while the caller was at this one: so does their time. */
void trace_skip(struct call_stack *calls);

/* By value, so that it is put together in registers. */
static inline __attribute__((always_inline)) void trace_enter(struct call_stack *calls,
							      struct trace_call call, u64 now)
{
	const u64 level = arch_stack_pointer();

	if (trace_throttled(calls))
		return;
	trace_take(calls, level);
	trace_advance(calls, now);
	const u32 node = trace_likely_child(calls, calls->top->node, call.identity);

	if (__builtin_expect(node == TRACE_NO_NODE || now >= calls->speed_due, 0))
		trace_enter_elsewhere(calls, call.identity, call.object, call.named, call.frame,
				      call.kind);
	else
		trace_push(calls, node,
			   (struct trace_entry){ .object = call.object,
						 .named = call.named,
						 .frame = call.frame,
						 .kind = call.kind,
						 .start_ticks = now });
	if (!trace_give(calls, level))
		trace_skip(calls);
	if (__builtin_expect(calls->has_waiting, 0))
		trace_region_return(calls);
}

/* trace_close(), by a hook that has not taken the tree. */
static inline __attribute__((always_inline)) void trace_leave(struct call_stack *calls,
							      u64 object, u64 frame, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	trace_close(calls, object, frame, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* trace_switch_stack(), by code that has not taken the tree. */
static inline void trace_change_stack(struct call_stack *calls, const struct trace_stack *to,
				      struct trace_stack *out_left, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	trace_switch_stack(calls, to, out_left, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}
