/*
 * calls - traced calls as hooks report them: by trace_enter() and trace_leave().
 *
 * An interpreter's hooks run between two of its instructions, never in a signal handler; those of
 * compiled code wherever it runs.  call_tree.h has the counts, names.h the callees' names.
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
	u64 object;   /* this and the next two: as in struct trace_entry */
	u64 named;
	u64 frame;
	enum trace_kind kind;
};

/* The calling thread's calls; NULL: none so far. */
extern __thread struct call_stack *trace_own;

/* Puts a running call on the stack whose beginning was not seen, or was counted elsewhere. */
void trace_stand(struct call_stack *calls, const struct trace_call *call);
/* The same for entries of another tree, outermost first. */
void trace_stand_again(struct call_stack *calls, const struct trace_entry *entries, u32 count);
/* State of counting the calling thread's calls in a separate area for a while. */
struct trace_aside {
	struct call_stack calls; /* readable until trace_end_aside(); its entries are kept */
	struct call_stack *own;  /* the thread's calls before */
	bool was_off;
};
/*
 * Counts in a separate area until trace_end_aside(), even if tracing is off.  Time meanwhile is
 * in no call's.  For one thread at a time.  False: out of memory.
 */
bool trace_begin_aside(struct trace_aside *aside);
void trace_end_aside(struct trace_aside *aside);
/* Begins to count the calling thread's calls; NULL: it cannot be counted. */
struct call_stack *trace_begin_thread(void);
/*
 * Makes an empty stack for a thread that switches stacks (trace_switch_stack()); false: out of
 * memory.  It is never freed: the user of a stack keeps it for reuse.
 */
bool trace_make_stack(const struct call_stack *calls, struct trace_stack *out_stack);
/*
 * Begins a call whose callee is not the one its caller called last, or at which the processor's
 * speed is to be measured (processor_speed.h).  Takes no struct: one would be built in memory at
 * each call, also where this function is not needed.
 */
void trace_enter_elsewhere(struct call_stack *calls, u64 identity, u64 object, u64 named,
			   u64 frame, enum trace_kind kind);
/* An area is in use: threads that begin now take slots of it. */
void trace_calls_begin(void);
/* In a child of fork: drops the calls counted for the parent. */
void trace_calls_forget(void);
/* In a child of fork: enters the thread's open calls in its area.  False: it is not traced. */
bool trace_calls_adopt(void);
/* The program switches tracing: calls are still followed, but not counted (1), or counted (0). */
void trace_calls_set_off(u32 is_off);

static inline struct call_stack *trace_of_thread(void)
{
	struct call_stack *own = trace_own;

	return __builtin_expect(own != NULL, 1) ? own : trace_begin_thread();
}

/*
 * regions.c: reopens regions whose generator or coroutine the innermost call resumes, or whose
 * function returned to a caller that now calls another.
 */
void trace_region_return(struct call_stack *calls);

/*
 * Leaves the time since the last event out of all calls: searching for a node, and naming it, took
 * it.  Returns this time in ticks.
 */
u64 trace_leave_out(struct call_stack *calls);
/* Skips time that a handler's events counted in another tree while this one was taken. */
void trace_skip(struct call_stack *calls);

/*
 * Begins a call in a tree that is taken.  The call is passed by value, so that it is built in
 * registers.
 */
static inline __attribute__((always_inline)) void trace_open(struct call_stack *calls,
							     struct trace_call call, u64 now)
{
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
}

/* Gives a tree back in which a call was opened, and then reopens regions that wait for that. */
static inline __attribute__((always_inline)) void trace_give_opened(struct call_stack *calls,
								    u64 level)
{
	if (!trace_give(calls, level))
		trace_skip(calls);
	if (__builtin_expect(calls->has_waiting, 0))
		trace_region_return(calls);
}

/* trace_open() for a hook that has not taken the tree. */
static inline __attribute__((always_inline)) void trace_enter(struct call_stack *calls,
							      struct trace_call call, u64 now)
{
	const u64 level = arch_stack_pointer();

	if (trace_throttled(calls))
		return;
	trace_take(calls, level);
	trace_open(calls, call, now);
	trace_give_opened(calls, level);
}

/* trace_close() for a hook that has not taken the tree. */
static inline __attribute__((always_inline)) void trace_leave(struct call_stack *calls,
							      u64 object, u64 frame, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	trace_close(calls, object, frame, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* trace_switch_stack() for code that has not taken the tree. */
static inline void trace_change_stack(struct call_stack *calls, const struct trace_stack *to,
				      struct trace_stack *out_left, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(calls, level);
	trace_switch_stack(calls, to, out_left, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}
