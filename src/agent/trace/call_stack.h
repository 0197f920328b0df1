/*
 * call_stack - the traced calls that a thread is executing, each with its node in the thread's
 * call tree (call_tree.h).
 *
 * Each event adds the time since the previous event to the node that was executing.  So self
 * times are complete at any moment, however the program ends, and the self times of a thread's
 * nodes sum to the time from its first event to its last.
 *
 * A signal handler may itself contain traced compiled code, and interrupt a hook that is updating
 * the tree.  So a hook that changes more than one word first takes the tree (trace_take(): two
 * stores).  Events that come meanwhile go to another tree of the thread (native/native.h).
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

/* index.h: a hash table of the children of callers that have many. */
struct trace_index {
	u32 *tables; /* NULL: not allocated yet */
	u32 bits;    /* the table in use has 2^bits entries */
	u32 used;    /* entries used in it */
	u32 is_full; /* or out of memory: other nodes are found in their callers' lists only */
};

struct trace_shim;

struct trace_entry {
	u64 object; /* identifies the call when it ends: a code object, a PyMethodDef */
	u64 named;  /* the object that the name was read from */
	u64 frame;  /* 0: the events report none */
	u64 start_ticks;
	u32 node;
	u32 kind; /* enum trace_kind */
};

/* One thread's calls; all of it private to the agent, except the area. */
struct call_stack {
	struct trace_area *area;     /* NULL: the thread has no tree */
	struct trace_entry *entries; /* entries[0] is the root */
	struct trace_entry *top;
	struct trace_entry *limit; /* the last usable entry */
	u64 last_ticks;
	/*
	 * The stack pointer in or near the hook that has taken the tree; 0: none.  It is even:
	 * events that come meanwhile, and are counted in another tree, add 1.
	 */
	u64 busy;
	u64 unstacked; /* open calls without an entry: the stack was full */
	u64 speed_due; /* when to measure processor speed next; ~0: never */
	u32 slot;
	u32 chunk;       /* the chunk that is being filled; 0: none */
	u16 used;        /* nodes used in it */
	u16 has_waiting; /* open regions whose generator was left and may be resumed */
	/* Calls to check for jumped-over callers, as an unwinder has run (native/jumps.c). */
	u32 unwound;
	u32 has_nameless; /* nodes of open calls may lack names */
	u32 is_off; /* 1: tracing is off: calls are not counted and take no time (trace.h) */
	u32 is_throttled;         /* the thread has seen the area's flag (trace_throttled()) */
	struct trace_shim *shims; /* this thread's free shims (python/callable_shims.h) */
	struct trace_index index;
};

/*
 * The open calls of one stack of a thread that has several: coroutines switched in C, such as
 * Ruby's fibers.  They share the thread's tree, and each stack begins at its root.
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

/* Reads a node number from a node, and cuts it to the table. */
static inline u32 trace_link(const u32 *link)
{
	return __atomic_load_n(link, __ATOMIC_RELAXED) & (TRACE_NODES - 1);
}

/* Whether the number is a node's.  A branch: a mask would lengthen every call's critical path. */
static inline bool trace_is_node(u32 number)
{
	return number - 1 < TRACE_NODES - 1;
}

static inline struct trace_node *trace_node_at(const struct call_stack *calls, u32 node)
{
	return &calls->area->nodes[node];
}

/*
 * From trace_take() to trace_give() the tree is the caller's.  Both run in one thread, so compiler
 * fences suffice.  A hook that a signal handler leaves by a jump never gives the tree back; the
 * next hook takes it all the same.
 */
static inline void trace_take(struct call_stack *calls, u64 level)
{
	__atomic_store_n(&calls->busy, level, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* True if no event came since trace_take(). */
static inline bool trace_give(struct call_stack *calls, u64 level)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const u64 busy = __atomic_load_n(&calls->busy, __ATOMIC_RELAXED);

	__atomic_store_n(&calls->busy, 0, __ATOMIC_RELAXED);
	return __builtin_expect(busy == level, 1);
}

/* throttle.c: handles a change of the throttle; returns what trace_throttled() does. */
bool trace_throttle(struct call_stack *calls);

/*
 * Whether to leave out a call that begins: its hook returns at once.  Calls that are open then end
 * as usual, and take no time.  While throttled, the stack holds only calls that began before; a
 * later call below one that was left out is attributed to that one's caller.  For callers that have
 * not taken the tree.
 */
static inline bool trace_throttled(struct call_stack *calls)
{
	return __builtin_expect((calls->area->is_throttled | calls->is_throttled) != 0, 0) &&
	       trace_throttle(calls);
}

/* Adds the time since the last event to the executing node. */
static inline void trace_advance(struct call_stack *calls, u64 now)
{
	struct trace_node *node = trace_node_at(calls, calls->top->node);

	/*
	 * Time may seem to go back: counters of two processors may differ a little, and the CPU
	 * clock may be corrected when read anew.  No time is counted twice.
	 */
	if (now <= calls->last_ticks)
		return;
	node->self_ticks += now - calls->last_ticks;
	calls->last_ticks = now;
}

/* Leaves time out of all open calls, by moving their starts.  Slow where calls are deep. */
static inline void trace_leave_out_of_calls(struct call_stack *calls, u64 ticks)
{
	for (struct trace_entry *entry = calls->top; entry > calls->entries; entry--)
		entry->start_ticks += ticks;
}

/* Counts an event that is no call: its hook's cost is in the executing node's self time. */
static inline void trace_note_uncounted(struct call_stack *calls, enum trace_uncounted what)
{
	calls->area->overheads[calls->top->node].uncounted[what] += calls->is_off ^ 1;
}

/*
 * Switches the thread to another of its stacks; *out_left receives the one that is left, which
 * also gets the time up to now.  The stack is copied into *calls, to save events an indirection.
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

/* Removes all calls from a stack. */
static inline void trace_empty_stack(const struct call_stack *calls, struct trace_stack *stack)
{
	/* Entry 0 of every stack is the thread's root. */
	*stack->entries = *calls->entries;
	stack->top = stack->entries;
	stack->unstacked = 0;
}

/* Whether a kind is one of Python functions. */
static inline bool trace_call_kind_is_python(u32 kind)
{
	return kind == TRACE_KIND_PYTHON || kind == TRACE_KIND_PYTHON_UNCALLED ||
	       kind == TRACE_KIND_PYTHON_RESUMED;
}

/* Whether a kind is one of compiled code. */
static inline bool trace_native_is(u32 kind)
{
	return kind - TRACE_KIND_INSTRUMENTED <=
	       (u32)TRACE_KIND_FENTRY - TRACE_KIND_INSTRUMENTED;
}
