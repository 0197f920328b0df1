/*
 * call_stack - the calls that a thread is executing, each with its node in the thread's tree
 * (call_tree.h).
 *
 * At each event the time since the last one is put down to the node that was executed
 * meanwhile; so nothing is open that a reader, or the end of the program, could miss, and the
 * self times of a thread's nodes are its time from its first event to its last.
 *
 * A signal handler may be made of compiled code that is traced, and come while a hook is at the
 * tree.  So a hook that changes more than a word of it takes it first (trace_take()): two stores.
 * What comes meanwhile goes to another tree of the thread's (native/native.h).
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

/* index.h: the children of callers that have many. */
struct trace_index {
	u32 *tables; /* NULL: there are none so far */
	u32 bits;    /* of the one in use: so many entries are 2 to the */
	u32 used;    /* of it */
	u32 is_full; /* or there is no memory: what is not in it is in its caller's list */
};

struct trace_shim;

struct trace_entry {
	u64 object; /* by which its leaving is known: a code object, a PyMethodDef */
	u64 named;  /* the object that its name was read of */
	u64 frame;  /* 0: events have none */
	u64 start_ticks;
	u32 node;
	u32 kind; /* enum trace_kind */
};

/* One thread's: all private but the area. */
struct call_stack {
	struct trace_area *area;     /* NULL: the thread has none */
	struct trace_entry *entries; /* the first is the root's */
	struct trace_entry *top;
	struct trace_entry *limit; /* the last there is */
	u64 last_ticks;
	/*
	 * The stack pointer of the hook that is at the tree, or near it; 0: there is none.  It
	 * is even: 1 is added when events came meanwhile, which went to another tree.
	 */
	u64 busy;
	u64 unstacked; /* calls for which there was no entry, and that have not ended */
	u64 speed_due; /* when the next one is (processor_speed.h); ~0: never */
	u32 slot;
	u32 chunk;       /* the one that is being filled; 0: none */
	u16 used;        /* of it */
	u16 has_waiting; /* regions, whose generator was left: it may come again */
	/* How many beginnings are to be looked at, for an unwinder was at work (native/jumps.c). */
	u32 unwound;
	u32 has_nameless; /* calls that are executed may have nodes without names */
	u32 is_off; /* 1: calls are not counted; their time is none (trace.h, trace_now()) */
	u32 is_throttled;         /* the thread has seen that calls are (trace_throttled()) */
	struct trace_shim *shims; /* not in use (python/callable_shims.h): its thread's */
	struct trace_index index;
};

/*
 * The calls of one of a thread's stacks, where it has several: coroutines that C switches, such as
 * Ruby's fibers.  They have one tree, and each stack begins at its root.
 */
struct trace_stack {
	struct trace_entry *entries;
	struct trace_entry *top;
	struct trace_entry *limit;
	u64 unstacked;
};

#define TRACE_NO_NODE 0U

#define TRACE_NODES (TRACE_CHUNKS * TRACE_CHUNK_NODES)
_Static_assert((TRACE_NODES & (TRACE_NODES - 1)) == 0, "a number is cut by a mask");

/* A number as it stands in a node: always one of the table. */
static inline u32 trace_link(const u32 *link)
{
	return __atomic_load_n(link, __ATOMIC_RELAXED) & (TRACE_NODES - 1);
}

/* Whether it is one: a branch, where a mask would delay what every call waits for. */
static inline bool trace_is_node(u32 number)
{
	return number - 1 < TRACE_NODES - 1;
}

static inline struct trace_node *trace_node_at(const struct call_stack *calls, u32 node)
{
	return &calls->area->nodes[node];
}

/*
 * Between these two the tree is the caller's.  In one thread: what a compiler must not move
 * is all there is.  A hook that is left by a handler's jump leaves it taken; the next one takes
 * it all the same.
 */
static inline void trace_take(struct call_stack *calls, u64 level)
{
	__atomic_store_n(&calls->busy, level, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Says whether no event came meanwhile. */
static inline bool trace_give(struct call_stack *calls, u64 level)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const u64 busy = __atomic_load_n(&calls->busy, __ATOMIC_RELAXED);

	__atomic_store_n(&calls->busy, 0, __ATOMIC_RELAXED);
	return __builtin_expect(busy == level, 1);
}

/* throttle.c: the recorder has throttled calls, or does so no more; as trace_throttled(). */
bool trace_throttle(struct call_stack *calls);

/*
 * Whether a call that begins is to be left out: its hook returns at once.  Calls that are open
 * meanwhile end as they do, and take no time.  The stack has those that began before only: what is
 * called later by one that was left out is its caller's.  To be asked by whatever has not taken
 * the tree.
 */
static inline bool trace_throttled(struct call_stack *calls)
{
	return __builtin_expect((calls->area->is_throttled | calls->is_throttled) != 0, 0) &&
	       trace_throttle(calls);
}

/* Puts down the time since the last event. */
static inline void trace_advance(struct call_stack *calls, u64 now)
{
	struct trace_node *node = trace_node_at(calls, calls->top->node);

	/*
	 * Counters of two processors may differ a little, and a CPU clock is less than was
	 * thought when it is read anew: what was put down once is not put down again.
	 */
	if (now <= calls->last_ticks)
		return;
	node->self_ticks += now - calls->last_ticks;
	calls->last_ticks = now;
}

/*
 * The calls that are being executed seem to have begun so much later: what was no call's time is not
 * theirs, either.  It takes a while where calls are deep.
 */
static inline void trace_leave_out_of_calls(struct call_stack *calls, u64 ticks)
{
	for (struct trace_entry *entry = calls->top; entry > calls->entries; entry--)
		entry->start_ticks += ticks;
}

/*
 * An event that a hook was called for and that is no call: its cost is in the time of what is
 * being executed.
 */
static inline void trace_note_uncounted(struct call_stack *calls, enum trace_uncounted what)
{
	calls->area->overheads[calls->top->node].uncounted[what] += calls->is_off ^ 1;
}

/*
 * Goes on with another stack, which becomes the calls's; *out_left is the one that is left.  Time
 * up to now is the one's that is left.  By value, so that events do not look further than
 * the calls.
 */
static inline void trace_switch_stack(struct call_stack *calls, const struct trace_stack *to,
				      struct trace_stack *out_left, u64 now)
{
	const struct trace_stack next = *to;

	trace_advance(calls, now);
	*out_left = (struct trace_stack){ .entries = calls->entries,
					  .top = calls->top,
					  .limit = calls->limit,
					  .unstacked = calls->unstacked };
	calls->entries = next.entries;
	calls->top = next.top;
	calls->limit = next.limit;
	calls->unstacked = next.unstacked;
}

/* As if nothing had been called on it. */
static inline void trace_empty_stack(const struct call_stack *calls, struct trace_stack *stack)
{
	/* Every stack of the thread begins with its root. */
	*stack->entries = *calls->entries;
	stack->top = stack->entries;
	stack->unstacked = 0;
}

/* Whether a kind is of Python functions. */
static inline bool trace_call_kind_is_python(u32 kind)
{
	return kind == TRACE_KIND_PYTHON || kind == TRACE_KIND_PYTHON_UNCALLED ||
	       kind == TRACE_KIND_PYTHON_RESUMED;
}

/* Whether a kind is of compiled code. */
static inline bool trace_native_is(u32 kind)
{
	return kind - TRACE_KIND_INSTRUMENTED <=
	       (u32)TRACE_KIND_FENTRY - TRACE_KIND_INSTRUMENTED;
}
